"""`mien optimize report`: quality against latency, as a page."""

from __future__ import annotations

import argparse
from pathlib import Path

USAGE = "mien optimize report [options] DIR -o OUT.html"
DESCRIPTION = """\
Draw quality against latency of all artefacts in a folder, for each parent, and list them with what the gate says. The
page needs no other file."""
EXAMPLES = "  mien optimize report artefacts/ -o report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of artefacts and their cards")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="OUT", help="the page: NAME.html")
    parser.add_argument("--overwrite", action="store_true", help="replace a page that is there")


def run(options: argparse.Namespace) -> int:
    """Write the page."""
    from mien.cli.output import check_output
    from mien.media.files import write_bytes
    from mien.optimize.ledger import read_cards
    from mien.optimize.report import page

    check_output(options.output, [], overwrite=options.overwrite)
    cards = read_cards(options.folder)
    write_bytes(options.output, page(cards).encode())
    print(f"{options.output}: {len(cards)} artefacts")
    return 0
