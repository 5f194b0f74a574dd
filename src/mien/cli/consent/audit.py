"""`mien consent audit`: the log, checked and shown."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from mien.cli.consent.common import add_policy
from mien.cli.console import STDOUT, count_of, table, write_json

USAGE = "mien consent audit [options]"
DESCRIPTION = """\
Check the log of what was done to records, and of the jobs they permitted: each entry carries the hash of the one
before. Exit code 1 if one was changed, taken out or cut off."""
EXAMPLES = """\
  mien consent audit
  mien consent audit --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_policy(parser)


def run(options: argparse.Namespace) -> int:
    """Read and check every entry, and print them."""
    from mien.trust.consent import ConsentStore
    from mien.trust.policy import Policy

    entries = list(ConsentStore(Policy.find(options.policy).folder).audit.entries())
    if options.json:
        write_json([asdict(entry) for entry in entries], STDOUT)
        return 0
    rows = [[str(entry.number), entry.time[:19], entry.event, _facts(entry.facts)] for entry in entries]
    if rows:
        print(table(rows, right=(0,)))
    print(f"{count_of(len(rows), 'entry', 'entries')}, as they were written")
    return 0


def _facts(facts: dict[str, object]) -> str:
    return " ".join(str(value) for name, value in facts.items() if name != "digests" and value)
