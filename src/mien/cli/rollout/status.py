"""`mien rollout status`: what runs with what, and how it went."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

from mien.cli.console import STDOUT, table, write_json
from mien.cli.keys.common import add_json, moment
from mien.cli.queue_access import add_place, opened_queue

if TYPE_CHECKING:
    from mien.service.rollout import Rollout

USAGE = "mien rollout status [options]"
DESCRIPTION = "List the networks that are rolled out, their share, the state of their circuit breaker and its reason."
EXAMPLES = """\
  mien rollout status
  mien rollout status --json"""

_HEAD = ("role", "stable", "canary", "share", "breaker", "since", "in flight", "why")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_place(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print it."""
    from mien.service.rollout import Rollouts

    with opened_queue(options) as state:
        rollouts = Rollouts(state).all()
    if options.json:
        write_json({role: dataclasses.asdict(rollout) for role, rollout in rollouts.items()}, STDOUT)
        return 0
    rows = [_row(role, rollout) for role, rollout in sorted(rollouts.items())]
    print(table([_HEAD, *rows]) if rows else "nothing is rolled out: every job runs with what its recipe says")
    return 0


def _row(role: str, rollout: Rollout) -> tuple[str, ...]:
    breaker = rollout.breaker
    share, in_flight = f"{100 * rollout.share:g} %", str(len(rollout.in_flight))
    state = breaker.state.replace("_", " ")
    since = moment(breaker.since_s or None)
    return role, rollout.stable, rollout.canary or "-", share, state, since, in_flight, breaker.why or "-"
