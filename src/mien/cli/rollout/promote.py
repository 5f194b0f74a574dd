"""`mien rollout promote`: make the canary the stable network."""

from __future__ import annotations

import argparse

from mien.cli.queue_access import add_place, opened_queue

USAGE = "mien rollout promote ROLE [options]"
DESCRIPTION = "Make the canary the network that all jobs run with that name none themselves."
EXAMPLES = """\
  mien rollout promote swapper"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("role", metavar="ROLE", help="swapper, restorer, upscaler, occluder or parser")
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    from mien.service.rollout import Rollouts

    with opened_queue(options) as state:
        print(f"{options.role}: {Rollouts(state).promote(options.role)} is stable now")
    return 0
