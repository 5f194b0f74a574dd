"""`mien bench run`: run a suite."""

from __future__ import annotations

import argparse
from pathlib import Path

USAGE = "mien bench run [options] --suite SUITE -o OUT.json"
DESCRIPTION = """\
Run the bundled networks of a suite, and the artefacts of a folder if one is given, on one thread of the processor, and
keep times, sizes and the quality on the artefacts' cards."""
EXAMPLES = """\
  mien bench run --suite small -o today.json
  mien bench run --suite small --artefacts artefacts/ -o today.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--suite", default="small", help="small (small)")
    parser.add_argument("--artefacts", type=Path, metavar="DIR", help="folder of artefacts and their cards")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="rounds, each of all networks (15)")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="OUT", help="the run: NAME.json")
    parser.add_argument("--overwrite", action="store_true", help="replace a run that is there")


def run(options: argparse.Namespace) -> int:
    """Run, print and write."""
    from mien.cli.console import format_bytes, table
    from mien.cli.output import check_output
    from mien.errors import UsageError
    from mien.media.files import write_bytes
    from mien.optimize.bench import run_suite, to_json

    check_output(options.output, [], overwrite=options.overwrite)
    if options.rounds < 3:
        raise UsageError(f"--rounds {options.rounds} is too few to tell a spread: give 3 or more")
    done = run_suite(options.suite, options.artefacts, rounds=options.rounds)
    write_bytes(options.output, to_json(done).encode())
    print(
        table([(one.name, f"{one.latency_ms:.1f} ms", format_bytes(one.bytes)) for one in done.entries], right=(1, 2))
    )
    return 0
