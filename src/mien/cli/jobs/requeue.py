"""`mien jobs requeue`: try jobs that failed for good once more."""

from __future__ import annotations

import argparse

from mien.cli.queue_access import add_place, opened_queue
from mien.errors import UsageError

USAGE = "mien jobs requeue (JOB... | --all) [options]"
DESCRIPTION = "Put jobs that failed back into their queues, from the start and with all their tries."
EXAMPLES = """\
  mien jobs requeue job_x1Yz
  mien jobs requeue --all"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="jobs that failed")
    parser.add_argument("--all", action="store_true", help="all that `mien jobs dead` lists")
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Do it, and say for which."""
    from mien.service.records import JobId

    if bool(options.jobs) == options.all:
        raise UsageError("which jobs? Name them, or give --all for all that `mien jobs dead` lists")
    with opened_queue(options) as state:
        names = [job.id for job in state.dead()] if options.all else [JobId(name) for name in options.jobs]
        for name in names:
            if not state.retry(name):
                raise UsageError(f"{name} is no job that failed: `mien jobs dead` lists those")
            print(f"{name} waits again")
    return 0
