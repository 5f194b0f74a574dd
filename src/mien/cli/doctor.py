"""`mien doctor`: is this installation sound, and what brings what is missing."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

from mien import __version__
from mien.cli.console import STDOUT, table, write_json

if TYPE_CHECKING:
    from mien.cli.checks import Check

USAGE = "mien doctor [options]"
DESCRIPTION = "Check engines, devices, models, codecs and formats; exit code 1 if something essential is broken."
EXAMPLES = """\
  mien doctor
  mien doctor --json > doctor.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(options: argparse.Namespace) -> int:
    """Look at everything and print it."""
    from mien.cli.checks import run_checks

    checks = run_checks()
    sound = all(check.state != "broken" for check in checks)
    if options.json:
        findings = {"version": __version__, "ok": sound, "checks": [asdict(check) for check in checks]}
        write_json(findings, STDOUT)
    else:
        print(f"mien {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}\n")
        print(format_checks(checks))
        print("\nmien is ready." if sound else "\nmien is not ready: see what is broken above.")
    return 0 if sound else 1


def format_checks(checks: Sequence[Check]) -> str:
    """The checks by topic, one a line, remedies below what they mend."""
    rows = [[check.state, check.name, check.detail] for check in checks]
    lines = iter(table(rows, indent="  ").splitlines())
    blocks: list[str] = []
    for topic, members in groupby(checks, key=lambda check: check.topic):
        blocks.append(topic)
        for check in members:
            blocks.append(next(lines))
            if check.remedy:
                blocks.append(f"           -> {check.remedy}")
    return "\n".join(blocks)
