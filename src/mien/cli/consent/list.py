"""`mien consent list`: the records there are."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mien.cli.consent.common import add_policy, open_records
from mien.cli.console import STDOUT, table, write_json

if TYPE_CHECKING:
    from mien.trust.records import FaceRecord

USAGE = "mien consent list [options]"
DESCRIPTION = "List records of consent and of barred faces. Faces themselves are never shown."
EXAMPLES = """\
  mien consent list
  mien consent list --json"""

_HEAD = ("id", "state", "until", "scope", "faces", "subject")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_policy(parser)


def run(options: argparse.Namespace) -> int:
    """Read every record and print it."""
    store, _ = open_records(options)
    records, now = store.all(), datetime.now(UTC)
    if options.json:
        write_json([{**record.to_mapping(), "state": record.state(now)} for record in records], STDOUT)
    elif records:
        print(table([_HEAD, *(_row(record, now) for record in records)]))
    else:
        print(f"there is no record in {store.folder}")
    return 0


def _row(record: FaceRecord, now: datetime) -> tuple[str, ...]:
    state = record.state(now)
    return (
        record.id,
        "holds" if record.kind == "barred" and state == "valid" else state,
        f"{record.valid_until:%Y-%m-%d}" if record.valid_until else "-",
        ", ".join(record.scope) or "any",
        str(len(record.embeddings)) if record.embeddings else "deleted",
        record.subject,
    )
