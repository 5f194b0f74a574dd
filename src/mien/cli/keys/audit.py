"""`mien keys audit`: who did what in a service."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mien.cli.console import STDOUT, count_of, table, write_json
from mien.cli.keys.common import add_json
from mien.cli.queue_access import DATA

if TYPE_CHECKING:
    from mien.trust.audit import Entry

USAGE = "mien keys audit [options]"
DESCRIPTION = """\
Show what the keys of a service were used for, and check that no entry of its log was changed or taken out: exit code 1
if one was."""
EXAMPLES = """\
  mien keys audit
  mien keys audit --key 3f9a2c71d05e --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="FOLDER", help=f"the service's folder ({DATA} in this one)"
    )
    parser.add_argument("--key", metavar="ID", help="only what this key did")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the entries."""
    from mien.service.trail import audit_log

    entries = list(audit_log(options.data).entries())
    shown = [entry for entry in entries if options.key in (None, entry.facts.get("key"))]
    if options.json:
        write_json([{"time": entry.time, "event": entry.event, **entry.facts} for entry in shown], STDOUT)
        return 0
    if shown:
        print(table([_row(entry) for entry in shown]))
    print(f"{count_of(len(entries), 'entry', 'entries')}, none changed")
    return 0


def _row(entry: Entry) -> tuple[str, ...]:
    facts = dict(entry.facts)
    key = str(facts.pop("key", "-"))
    return entry.time, entry.event, key, " ".join(f"{name}={value}" for name, value in facts.items())
