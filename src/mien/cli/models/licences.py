"""`mien models licences`: what may be done with results."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING

from mien.cli.console import STDOUT, write_json
from mien.cli.models.common import add_folders, add_json, add_profile, open_store

if TYPE_CHECKING:
    from mien.models.catalogue import CatalogueEntry

USAGE = "mien models licences [options]"
DESCRIPTION = "List licences, what use each permits, and the networks under it."
EXAMPLES = """\
  mien models licences
  mien models licences --licence-profile commercial"""

_ORDER = ("commercial", "non-commercial", "research", "unknown")
_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_profile(parser)
    add_folders(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Group networks by licence and print them."""
    from mien.models.licence import is_permitted

    licences: dict[tuple[str, str], list[CatalogueEntry]] = {}
    for entry in open_store(options).entries.values():
        if is_permitted(entry.permits, options.licence_profile):
            licences.setdefault((entry.permits, entry.licence), []).append(entry)
    rows = sorted(licences.items(), key=lambda row: (_ORDER.index(row[0][0]), row[0][1].lower()))
    if options.json:
        findings = [
            {"licence": licence, "permits": permits, "networks": [entry.id for entry in entries]}
            for (permits, licence), entries in rows
        ]
        write_json(findings, STDOUT)
        return 0
    for (permits, licence), entries in rows:
        print(f"{licence} (permits: {permits})")
        print(
            textwrap.fill(", ".join(entry.id for entry in entries), _WIDTH, initial_indent="  ", subsequent_indent="  ")
        )
    return 0
