"""`mien rollout set`: begin or change the rollout of a network."""

from __future__ import annotations

import argparse

from mien.cli.queue_access import add_place, opened_queue

USAGE = "mien rollout set ROLE --stable NETWORK [--canary NETWORK --share SHARE] [options]"
DESCRIPTION = """\
Say with which network the jobs run that name none themselves, and which one a share of them tries. A job stays with
what it began with. With another canary, what was seen of the one before is forgotten."""
EXAMPLES = """\
  mien rollout set swapper --stable geometric --canary inswapper_128 --share 0.05
  mien rollout set swapper --stable geometric --canary inswapper_128 --share 0.5
  mien rollout set restorer --stable gfpgan_1.4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("role", metavar="ROLE", help="swapper, restorer, upscaler, occluder or parser")
    parser.add_argument("--stable", required=True, metavar="NETWORK", help="what jobs run with")
    parser.add_argument("--canary", metavar="NETWORK", help="what a share of them tries")
    parser.add_argument("--share", type=float, default=0.0, metavar="SHARE", help="of the jobs, 0 to 1 (0)")
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Set it."""
    from mien.service.rollout import Rollouts

    with opened_queue(options) as state:
        Rollouts(state).set(options.role, stable=options.stable, canary=options.canary, share=options.share)
    what = f", {100 * options.share:g} % with {options.canary}" if options.canary else ""
    print(f"{options.role}: {options.stable}{what}")
    return 0
