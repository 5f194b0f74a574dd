"""`mien models show`: everything about one network."""

from __future__ import annotations

import argparse

from mien.cli.console import STDOUT, table, write_json
from mien.cli.models.common import add_folders, add_json, describe_place, format_size, open_store, size_of, to_mapping

USAGE = "mien models show [options] ID"
DESCRIPTION = "Say everything that is known about a network, and whether its file is the right one."
EXAMPLES = """\
  mien models show face_mesh_478
  mien models show inswapper_128 --models ~/facefusion"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the network, as `mien models list` names it")
    add_folders(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the entry."""
    store = open_store(options)
    entry = store.entry(options.id)
    found = store.find(entry)
    located = store.locate(options.id) if found else None
    if options.json:
        checked = {"verified": located.verified, "why": located.why} if located else {"verified": None, "why": None}
        write_json({**to_mapping(entry, found), **checked}, STDOUT)
        return 0
    print(f"{entry.id}: {entry.summary}\n")
    rows = [
        ("role", entry.role),
        ("family", entry.family),
        ("licence", f"{entry.licence}, permits: {entry.permits}"),
        ("origin", entry.origin),
        ("contract", entry.contract),
        ("precisions", ", ".join(entry.precisions)),
        ("parameters", _rough(entry.parameters)),
        ("operations", f"{_rough(entry.operations)} multiply-adds" if entry.operations else "-"),
        ("file", " or ".join(entry.files)),
        ("size", format_size(size_of(entry, found))),
        ("SHA-256", entry.sha256 or "-"),
        ("where", describe_place(found)),
    ]
    if located:
        rows.append(("verified", f"{'yes' if located.verified else 'no'}: {located.why}"))
    print(table(rows))
    return 0


def _rough(number: int | None) -> str:
    """`5.6 M`, `174 G`."""
    if number is None:
        return "-"
    for unit, one in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if number >= one:
            return f"about {number / one:.3g} {unit}"
    return f"about {number / 1e3:.3g} k"
