"""`mien models add`: use a file of one's own."""

from __future__ import annotations

import argparse
from pathlib import Path

USAGE = "mien models add [options] FILE --family FAMILY"
DESCRIPTION = """\
Add a network's file to your own list, so that its id can be used wherever a network is named. The file stays where it
is; its inputs and outputs must be those of the family, and its SHA-256 is recorded."""
EXAMPLES = """\
  mien models add mine.onnx --family inswapper
  mien models add swap.onnx --family inswapper --id inswapper_128 --licence "contract 17" --permits commercial"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", type=Path, help="ONNX file")
    parser.add_argument("--family", required=True, help="whose contract it keeps, such as inswapper or gfpgan")
    parser.add_argument("--id", help="what to call it; otherwise it is called as the file")
    parser.add_argument("--licence", default="unknown", metavar="NAME", help="its licence (unknown)")
    parser.add_argument(
        "--permits",
        choices=("commercial", "non-commercial", "research", "unknown"),
        default="unknown",
        metavar="USE",
        help="what the licence permits: commercial, non-commercial, research or unknown (unknown)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a network of that id")


def run(options: argparse.Namespace) -> int:
    """Check the file and list it."""
    from mien.models import places
    from mien.models.check import check_file
    from mien.models.register import add_to_register, describe_file

    entry = describe_file(
        options.file, family=options.family, id=options.id, licence=options.licence, permits=options.permits
    )
    check_file(entry.path, entry.family)
    register = places.register_file()
    add_to_register(register, entry, overwrite=options.overwrite)
    print(f"{entry.id}: {entry.role} of the family {entry.family}, licence {entry.licence}, listed in {register}")
    return 0
