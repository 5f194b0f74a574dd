"""`mien bench marks`: does the invisible watermark survive?"""

from __future__ import annotations

import argparse
from pathlib import Path

USAGE = "mien bench marks [options] FILE..."
DESCRIPTION = """\
Mark pictures and clips in memory (of clips the first 50 frames), do to them what happens to files that are passed on,
and look for the mark again. Exit code 1 if it is lost."""
EXAMPLES = """\
  mien bench marks portrait.jpg clip.mp4
  mien bench marks *.mp4 -o marks.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="picture or video")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="the table as JSON")
    parser.add_argument("--overwrite", action="store_true", help="replace a table that is there")


def run(options: argparse.Namespace) -> int:
    """Try, print and write."""
    import json
    from dataclasses import asdict

    from mien.cli.console import table
    from mien.cli.output import check_output
    from mien.media.files import write_bytes
    from mien.trust.watermark.trial import try_file

    if options.output is not None:
        check_output(options.output, options.files, overwrite=options.overwrite)
    outcomes = [outcome for path in options.files for outcome in try_file(path)]
    rows = [
        (one.file, one.attack, "found" if one.found else "lost", f"{one.score:.1f}", f"{one.bits_right}/32",
         f"{one.psnr_db:.1f} dB")
        for one in outcomes
    ]  # fmt: skip
    print(table([("file", "after", "id", "score", "bits", "PSNR"), *rows], right=(3, 4, 5)))
    if options.output is not None:
        write_bytes(options.output, (json.dumps([asdict(one) for one in outcomes], indent=2) + "\n").encode())
    return 0 if all(one.found for one in outcomes) else 1
