"""`mien consent revoke`: end a consent, or lift a bar."""

from __future__ import annotations

import argparse

from mien.cli.consent.common import add_policy, open_records

USAGE = "mien consent revoke [options] ID"
DESCRIPTION = """\
End a consent from now on: jobs that name it are refused, and those that run stop before their next segment and publish
nothing. For a barred face, lift the bar."""
EXAMPLES = "  mien consent revoke consent-5f0c2a81b3d4"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the record")
    add_policy(parser)


def run(options: argparse.Namespace) -> int:
    """Write the record anew."""
    store, policy = open_records(options)
    record = store.revoke(options.id)
    print(
        f"{record.id} is revoked since {record.revoked_at:%Y-%m-%d %H:%M} UTC; its face is deleted "
        f"{policy.retention_days} days after that, or by `mien consent forget`"
    )
    return 0
