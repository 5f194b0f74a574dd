"""`mien compare`: before and after, side by side."""

from __future__ import annotations

import argparse
from pathlib import Path

from mien.cli.console import complain
from mien.cli.progress import progress_of
from mien.cli.stop import stop_on_signal
from mien.recipe import Position

USAGE = "mien compare [options] BEFORE AFTER -o OUT"
DESCRIPTION = """\
Put BEFORE and AFTER side by side. Two pictures give a picture; two clips give a clip with the sound of AFTER, or, if
OUT is named like a picture, three moments of them."""
EXAMPLES = """\
  mien compare clip.mp4 result.mp4 -o both.mp4
  mien compare clip.mp4 result.mp4 -o moments.jpg
  mien compare photo.jpg result.jpg -o both.png"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("before", metavar="BEFORE", help="picture or clip as it was")
    parser.add_argument("after", metavar="AFTER", help="the result")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="picture or clip to write")
    parser.add_argument("--start", metavar="TIME", help="moment of BEFORE at which AFTER begins (0)")
    parser.add_argument("--overwrite", action="store_true", help="replace an output that exists")
    parser.add_argument("--quiet", action="store_true", help="no progress; warnings and errors are still told")


def run(options: argparse.Namespace) -> int:
    """Write the comparison."""
    start = Position.parse(options.start) if options.start is not None else None
    before, after, output = Path(options.before), Path(options.after), Path(options.output)

    from mien.cli.comparison import compare
    from mien.cli.output import check_output

    check_output(output, [before, after], overwrite=options.overwrite)
    with stop_on_signal() as stopped, progress_of(output.name, quiet=options.quiet) as progress:
        warnings = compare(before, after, output, start=start, progress=progress, cancelled=stopped)
    for warning in warnings:
        complain(f"warning: {warning}")
    if not options.quiet:
        print(output)
    return 0
