"""`mien keys list`: which keys there are."""

from __future__ import annotations

import argparse

from mien.cli.console import STDOUT, table, write_json
from mien.cli.keys.common import add_json, moment, state_of, to_mapping
from mien.cli.queue_access import add_place, opened_queue

USAGE = "mien keys list [options]"
DESCRIPTION = "List keys: id, tenant, state, when they expire, what they permit. Nothing that is shown opens anything."
EXAMPLES = """\
  mien keys list
  mien keys list --json"""

_HEAD = ("id", "tenant", "name", "state", "made", "expires", "permits")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_place(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    from mien.service.keyring import Keyring

    with opened_queue(options) as state:
        keys = Keyring(state).all()
    if options.json:
        write_json([to_mapping(key) for key in keys], STDOUT)
        return 0
    rows = [
        (
            key.id,
            key.tenant,
            key.name,
            state_of(key),
            moment(key.created_s),
            moment(key.expires_s),
            ",".join(sorted(key.scopes)),
        )
        for key in keys
    ]
    print(table([_HEAD, *rows]))
    return 0
