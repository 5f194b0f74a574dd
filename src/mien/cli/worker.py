"""`mien worker`: do the jobs of a queue."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mien.cli.queue_access import need_service

if TYPE_CHECKING:
    from mien.service.records import TierName

USAGE = "mien worker --queue URL --storage PLACE [options]"
DESCRIPTION = """\
Take jobs from a queue and do them, several side by side with the same networks, until Ctrl-C or SIGTERM: then nothing
more is taken, and what is not finished within the time of grace goes to other workers."""
EXAMPLES = """\
  mien worker --queue redis://queue:6379/0 --storage /srv/mien/storage
  mien worker --tier realtime --slots 1 --queue rediss://queue:6379/0 --storage s3://bucket/mien"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--queue", metavar="URL", required=True, help="redis://, rediss:// or unix:// address")
    parser.add_argument("--storage", metavar="PLACE", required=True, help="a folder, or s3://BUCKET/PREFIX")
    parser.add_argument(
        "--tier",
        choices=("batch", "realtime", "preview"),
        action="append",
        help="whose jobs; given again, those of the first one come first (batch)",
    )
    parser.add_argument("--slots", type=int, default=2, metavar="N", help="tasks side by side (2)")
    parser.add_argument("--scratch", metavar="FOLDER", help="where files are kept during the work (the system's)")
    parser.add_argument("--lease", type=float, default=30.0, metavar="S", help="silence that means it is lost (30)")
    parser.add_argument("--grace", type=float, default=30.0, metavar="S", help="time to finish when stopped (30)")
    parser.add_argument("--device", default="auto", help="where networks are loaded before the first job (auto)")


def run(options: argparse.Namespace) -> int:
    """Work until a signal comes."""
    need_service()
    from mien.cli.service_parts import check_positive, open_storage, wait_for_signal
    from mien.service.logs import log_as_json
    from mien.service.spans import check_traces
    from mien.service.state import State
    from mien.service.worker import Worker, WorkerSettings

    log_as_json()
    check_traces()
    tiers = tuple(dict.fromkeys(cast("list[TierName]", options.tier or ["batch"])))
    check_positive(options, "slots", "lease")
    scratch = Path(options.scratch) if options.scratch else Path(tempfile.gettempdir()) / "mien-workers"
    settings = WorkerSettings(
        scratch=scratch,
        tiers=tiers,
        slots=options.slots,
        lease_s=options.lease,
        grace_s=options.grace,
        device=options.device,
    )
    with wait_for_signal() as wait, Worker(State.at(options.queue), open_storage(options.storage), settings) as worker:
        print(f"{worker.id} takes {' and '.join(tiers)} jobs", flush=True)
        wait()
        print("stopping: nothing more is taken", flush=True)
    return 0
