"""`mien keys add`: make a key."""

from __future__ import annotations

import argparse
import time
from typing import Any

from mien.cli.console import STDOUT, write_json
from mien.cli.keys.common import add_json, moment, to_mapping
from mien.cli.queue_access import add_place, opened_queue
from mien.errors import UsageError

USAGE = "mien keys add [options] TENANT"
DESCRIPTION = "Make a key for a tenant, and show it: it cannot be shown again."
EXAMPLES = """\
  mien keys add acme
  mien keys add acme --name website --days 90 --jobs-in-flight 20 --cost-per-job 0.50
  mien keys add monitoring --scope metrics:read"""

_DAY_S = 86_400.0
_LIMITS: dict[str, tuple[type, str, str]] = {
    "requests_per_minute": (int, "N", "calls a minute (600)"),
    "burst": (int, "N", "calls at once after a pause (100)"),
    "jobs_in_flight": (int, "N", "jobs that have not ended (100)"),
    "minutes_per_day": (float, "M", "media minutes a day; a picture counts as a second (600)"),
    "stored_bytes": (int, "N", "bytes of all uploads (50000000000)"),
    "upload_bytes": (int, "N", "bytes of one upload (5000000000)"),
    "cost_per_job": (float, "PRICE", "estimated price of one job (no limit)"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "tenant", metavar="TENANT", help="whose assets and jobs it sees: small letters, digits, hyphens"
    )
    parser.add_argument("--name", default="", help="for people: what the key is for")
    parser.add_argument("--scope", action="append", metavar="SCOPE", help="what it permits; may be given several times")
    parser.add_argument("--days", type=float, metavar="N", help="days after which it expires (never)")
    parser.add_argument("--share", type=float, default=1.0, metavar="S", help="of the machines, against others' (1)")
    limits = parser.add_argument_group("the most that it may take")
    for name, (kind, metavar, words) in _LIMITS.items():
        option = f"--{name.replace('_', '-')}"
        limits.add_argument(option, type=kind, default=argparse.SUPPRESS, metavar=metavar, help=words)
    add_place(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Make the key and print it."""
    if options.days is not None and not options.days > 0:
        raise UsageError(f"--days {options.days}: give a number above 0, or leave it out")
    from mien.service.keyring import Keyring
    from mien.service.keys import DEFAULT_SCOPES, Limits, mint
    from mien.service.signing import webhook_secret
    from mien.service.trail import audit_log

    given: dict[str, Any] = {name: getattr(options, name) for name in _LIMITS if name in options}
    minted = mint(
        options.tenant,
        name=options.name,
        scopes=options.scope or DEFAULT_SCOPES,
        limits=Limits(**given),
        share=options.share,
        now_s=time.time(),
        valid_s=None if options.days is None else options.days * _DAY_S,
    )
    with opened_queue(options) as state:
        keyring = Keyring(state)
        keyring.add(minted.key)
        signs = webhook_secret(keyring.secret(), minted.key.tenant)
    audit_log(options.data).append("key.added", key=minted.key.id, tenant=minted.key.tenant)
    if options.json:
        write_json({**to_mapping(minted.key), "token": minted.token, "webhook_secret": signs}, STDOUT)
        return 0
    print(f"key      {minted.token}")
    print(f"webhooks {signs}")
    print(f"expires  {moment(minted.key.expires_s)}")
    print("Keep both: the key is not shown again. Webhooks of this tenant are signed with the second.")
    return 0
