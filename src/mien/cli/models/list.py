"""`mien models list`: which networks there are."""

from __future__ import annotations

import argparse

from mien.cli.console import STDOUT, table, write_json
from mien.cli.models.common import add_folders, add_json, describe_place, format_size, open_store, size_of, to_mapping
from mien.errors import UsageError

USAGE = "mien models list [options]"
DESCRIPTION = "List networks: role, id, licence and what it permits, size, and where the file is."
EXAMPLES = """\
  mien models list
  mien models list --role swapper
  mien models list --found --models ~/facefusion"""

_HEAD = ("role", "id", "licence", "permits", "size", "where")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--role", help="only networks of this role, such as swapper")
    parser.add_argument("--found", action="store_true", help="only networks whose file is there")
    add_folders(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Look for every network's file and print the list."""
    store = open_store(options)
    roles = list(dict.fromkeys(entry.role for entry in store.entries.values()))
    if options.role not in (None, *roles):
        raise UsageError(f"--role {options.role}: the roles are {', '.join(roles)}")
    listed = [
        (entry, found)
        for entry in sorted(store.entries.values(), key=lambda entry: roles.index(entry.role))
        if options.role in (None, entry.role) and ((found := store.find(entry)) is not None or not options.found)
    ]
    if options.json:
        write_json([to_mapping(entry, found) for entry, found in listed], STDOUT)
        return 0
    rows = [
        (
            entry.role,
            entry.id,
            entry.licence,
            entry.permits,
            format_size(size_of(entry, found)),
            describe_place(found),
        )
        for entry, found in listed
    ]
    print(table([_HEAD, *rows], right=(4,)))
    return 0
