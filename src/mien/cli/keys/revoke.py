"""`mien keys revoke`: make a key invalid."""

from __future__ import annotations

import argparse
import time

from mien.cli.queue_access import add_place, opened_queue

USAGE = "mien keys revoke [options] ID"
DESCRIPTION = "Make a key invalid at once and for good. Jobs that it asked for go on."
EXAMPLES = "  mien keys revoke 3f9a2c71d05e"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("key", metavar="ID", help="as `mien keys list` shows it")
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Revoke it."""
    from mien.service.keyring import Keyring
    from mien.service.keys import KeyId
    from mien.service.trail import audit_log

    with opened_queue(options) as state:
        key = Keyring(state).revoke(KeyId(options.key), time.time())
    audit_log(options.data).append("key.revoked", key=key.id, tenant=key.tenant)
    print(f"the key {key.id} of {key.tenant} opens nothing any more")
    return 0
