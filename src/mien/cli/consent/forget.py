"""`mien consent forget`: delete what is kept of faces."""

from __future__ import annotations

import argparse

from mien.cli.consent.common import add_policy, open_records
from mien.cli.console import count_of
from mien.errors import UsageError

USAGE = "mien consent forget [options] [ID...]"
DESCRIPTION = """\
Delete records with the faces in them; only the log still knows that there were records of these ids. With --embeddings,
delete also what is kept of source and reference pictures to save time."""
EXAMPLES = """\
  mien consent forget consent-5f0c2a81b3d4
  mien consent forget --embeddings"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="the records")
    parser.add_argument("--embeddings", action="store_true", help="delete all embeddings that are kept to save time")
    add_policy(parser)


def run(options: argparse.Namespace) -> int:
    """Delete."""
    from mien.trust.kept import delete_all

    if not options.ids and not options.embeddings:
        raise UsageError("nothing is named: give ids that `mien consent list` shows, or --embeddings")
    store, _ = open_records(options)
    for id in options.ids:
        store.forget(id)
    deleted = delete_all(store.folder) if options.embeddings else 0
    print(f"deleted: {count_of(len(options.ids), 'record', 'records')}, {count_of(deleted, 'embedding', 'embeddings')}")
    return 0
