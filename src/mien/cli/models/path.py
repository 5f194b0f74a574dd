"""`mien models path`: where a network's file is."""

from __future__ import annotations

import argparse

from mien.cli.console import complain
from mien.cli.models.common import add_folders, open_store

USAGE = "mien models path [options] ID"
DESCRIPTION = "Print the path of the file that is used for a network; exit code 1 if there is none."
EXAMPLES = """\
  mien models path face_mesh_478
  mien models path inswapper_128 --models ~/facefusion"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the network, as `mien models list` names it")
    add_folders(parser)


def run(options: argparse.Namespace) -> int:
    """Find it and print its path."""
    located = open_store(options).locate(options.id)
    if located.differs:
        complain(f"warning: {located.path}: {located.why}")
    print(located.path)
    return 0
