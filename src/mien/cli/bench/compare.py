"""`mien bench compare`: two runs side by side."""

from __future__ import annotations

import argparse
from pathlib import Path

USAGE = "mien bench compare OLD NEW"
DESCRIPTION = """\
Compare two runs of one suite on one kind of machine. Exit code 1 if a network is slower (more than a tenth, with 95 %
confidence), bigger, worse or missing."""
EXAMPLES = "  mien bench compare yesterday.json today.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("old", metavar="OLD", type=Path, help="an earlier run")
    parser.add_argument("new", metavar="NEW", type=Path, help="a later run")


def run(options: argparse.Namespace) -> int:
    """Compare and print."""
    from mien.cli.console import table
    from mien.optimize.bench import compare, read_run

    compared = compare(read_run(options.old), read_run(options.new))
    print(
        table([(name, f"{one.value:.2f} times the old time ({one.low:.2f} to {one.high:.2f})")
               for name, one in compared.speeds])
    )  # fmt: skip
    for finding in compared.findings:
        print(f"{finding.name} is {finding.what}: {finding.words}")
    return 1 if compared.findings else 0
