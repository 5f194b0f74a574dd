"""`mien ledger`: what was tried to make networks cheaper, and what came of it."""

from __future__ import annotations

import argparse
from pathlib import Path

USAGE = "mien ledger [options] DIR"
DESCRIPTION = "List the cards of all artefacts in a folder: size, speed, latency, memory, quality and verdict."
EXAMPLES = """\
  mien ledger artefacts/
  mien ledger artefacts/ --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of artefacts and their cards")
    parser.add_argument("--json", action="store_true", help="print JSON, with all figures of the cards")


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    from mien.cli.console import STDOUT, table, write_json
    from mien.optimize.ledger import HEAD, read_cards, rows, to_mappings

    cards = read_cards(options.folder)
    if options.json:
        write_json(to_mappings(cards), STDOUT)
    else:
        print(table([HEAD, *rows(cards)]))
    return 0
