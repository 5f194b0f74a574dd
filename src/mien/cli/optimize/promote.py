"""`mien optimize promote`: let an artefact take its parent's place."""

from __future__ import annotations

import argparse
from pathlib import Path

USAGE = "mien optimize promote ARTEFACT"
DESCRIPTION = """\
List an artefact under its parent's id, so that whatever names the parent runs the artefact. Only one that passed the
gate on this device can be; networks that come with mien stay as they are. `mien models add --overwrite` with the
parent's own file takes it back."""
EXAMPLES = "  mien optimize promote made/inswapper_int8.onnx"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("artefact", metavar="ARTEFACT", type=Path, help="ONNX file with its card beside it")


def run(options: argparse.Namespace) -> int:
    """Look at the card and list the file."""
    from mien.optimize.promote import promote

    entry = promote(options.artefact)
    print(f"{entry.id} is {entry.path} from now on")
    return 0
