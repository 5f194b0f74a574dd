"""`mien serve`: the whole service on one machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mien.cli.queue_access import DATA, embedded_queue, need_service
from mien.errors import UsageError

if TYPE_CHECKING:
    from mien.service.kept_running import KeptRunning
    from mien.service.settings import Settings

USAGE = "mien serve [options]"
DESCRIPTION = """\
Serve the HTTP API, with a queue and a worker of its own, until Ctrl-C or SIGTERM. All that it keeps lies in one folder.
With --queue and --storage it is one of several: the others are `mien worker` and `mien serve --no-worker`."""
EXAMPLES = """\
  mien serve
  mien serve --data /srv/mien --port 8000 --price-per-hour 0.40
  mien serve --no-worker --queue redis://queue:6379/0 --storage s3://bucket/mien"""

_PORT = 8484
_TIERS = ("realtime", "preview", "batch")
"""In the order in which one worker does their jobs."""
_DAY_S = 86_400.0
_STOP_S = 60.0
"""Longer than a worker's time of grace."""
_AGAIN_S = 2.0
"""Before a worker that ended by itself is started again."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)")
    parser.add_argument("--port", type=int, default=_PORT, help=f"port to listen on; 0 takes a free one ({_PORT})")
    place = parser.add_argument_group("where things are kept")
    place.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help=f"all of it ({DATA} in this folder)")
    place.add_argument("--queue", metavar="URL", help="redis://, rediss:// or unix:// address (embedded in --data)")
    place.add_argument("--storage", metavar="PLACE", help="a folder, or s3://BUCKET/PREFIX (in --data)")
    place.add_argument("--keep-assets", type=float, default=30, metavar="DAYS", help="uploads; 0 = for ever (30)")
    place.add_argument("--keep-jobs", type=float, default=30, metavar="DAYS", help="results; 0 = for ever (30)")
    worker = parser.add_argument_group("its worker")
    worker.add_argument("--no-worker", action="store_true", help="only the API")
    worker.add_argument(
        "--tier",
        choices=_TIERS,
        action="append",
        help="whose jobs, those of the first one first; may be given again (all)",
    )
    worker.add_argument("--slots", type=int, default=2, metavar="N", help="tasks side by side (2)")
    rules = parser.add_argument_group("what users may do")
    rules.add_argument("--price-per-hour", type=float, metavar="PRICE", help="of a worker, for estimates and reports")
    rules.add_argument("--allow-link", action="append", default=[], metavar="PREFIX", help="links recipes may name")
    rules.add_argument("--webhook-host", action="append", default=[], metavar="HOST", help="not public, but trusted")
    rules.add_argument("--public-url", metavar="URL", help="the API's address in result links (as it was called)")


def run(options: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    need_service()
    settings = _settings(options)
    from mien.cli.service_parts import open_storage, wait_for_signal
    from mien.service.api.front import open_front
    from mien.service.api.server import ApiServer
    from mien.service.inspection.process import Inspector
    from mien.service.logs import log_as_json
    from mien.service.spans import check_traces
    from mien.service.state import State

    log_as_json()
    check_traces()
    options.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    storage = options.storage or str(options.data / "storage")
    with wait_for_signal() as wait, ExitStack() as stack:
        queue = stack.enter_context(_queue(options))
        inspector = stack.enter_context(Inspector(processes=settings.inspectors))
        front = open_front(settings, State.at(queue), open_storage(storage), inspector)
        server = stack.enter_context(ApiServer(front, host=options.host, port=options.port))
        if not options.no_worker:
            stack.enter_context(_worker(queue, storage, options))
        print(f"mien serves on {server.url}", flush=True)
        print(f"make a first key with: {_first_key(options)}", flush=True)
        wait()
        print("stopping: the worker finishes what it can", flush=True)
    return 0


def _settings(options: argparse.Namespace) -> Settings:
    from mien.service.settings import Settings

    for name in ("keep_assets", "keep_jobs", "price_per_hour"):
        if (getattr(options, name) or 0) < 0:
            raise UsageError(f"--{name.replace('_', '-')} {getattr(options, name)}: give 0 or more")
    return Settings(
        data=options.data,
        price_per_hour=options.price_per_hour,
        allowed_links=tuple(options.allow_link),
        webhook_hosts=tuple(options.webhook_host),
        asset_kept_s=options.keep_assets * _DAY_S or None,
        job_kept_s=options.keep_jobs * _DAY_S or None,
        public_url=options.public_url,
        ready_with=None if options.no_worker else (options.tier or _TIERS)[0],
    )


@contextmanager
def _queue(options: argparse.Namespace) -> Generator[str]:
    """The address of the queue, whose server runs as long as the block does."""
    if options.queue is not None:
        yield options.queue
        return
    with embedded_queue(options.data) as (url, ours):
        if not ours:
            raise UsageError(f"another `mien serve` uses {options.data}: give --data another folder")
        yield url


def _worker(queue: str, storage: str, options: argparse.Namespace) -> KeptRunning:
    """A worker process; one that ends by itself is started again."""
    from mien.service.kept_running import KeptRunning

    command = [sys.executable, "-m", "mien", "worker", "--queue", queue, "--storage", storage]
    command += [word for tier in options.tier or _TIERS for word in ("--tier", tier)]
    command += ["--slots", str(options.slots)]
    return KeptRunning(command, again_s=_AGAIN_S, stop_s=_STOP_S)


def _first_key(options: argparse.Namespace) -> str:
    place = f" --data {options.data}" if options.data != DATA else ""
    return f"mien keys add TENANT{place}" + (f" --queue {options.queue}" if options.queue else "")
