"""`mien rollout rollback`: give the canary no more jobs."""

from __future__ import annotations

import argparse

from mien.cli.queue_access import add_place, opened_queue

USAGE = "mien rollout rollback ROLE [options]"
DESCRIPTION = "End a rollout: no more jobs begin with the canary. Those that have begun with it go on."
EXAMPLES = """\
  mien rollout rollback swapper"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("role", metavar="ROLE", help="swapper, restorer, upscaler, occluder or parser")
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    from mien.service.rollout import Rollouts

    with opened_queue(options) as state:
        print(f"{options.role}: {Rollouts(state).roll_back(options.role)} gets no more jobs")
    return 0
