"""`mien jobs dead`: which jobs failed for good, and why."""

from __future__ import annotations

import argparse
import dataclasses

from mien.cli.console import STDOUT, table, write_json
from mien.cli.keys.common import add_json, moment
from mien.cli.queue_access import add_place, opened_queue

USAGE = "mien jobs dead [options]"
DESCRIPTION = "List the dead letters, oldest first: job, tenant, tier, when it failed, how often it was tried, and why."
EXAMPLES = """\
  mien jobs dead
  mien jobs dead --queue redis://queue:6379/0 --json"""

_HEAD = ("job", "tenant", "tier", "failed", "tries", "why")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_place(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    with opened_queue(options) as state:
        jobs = state.dead()
    if options.json:
        write_json([dataclasses.asdict(job) for job in jobs], STDOUT)
        return 0
    rows = [
        (job.id, job.tenant, job.tier, moment(job.ended_s), str(job.attempts), job.error.message if job.error else "-")
        for job in jobs
    ]
    print(table([_HEAD, *rows]) if rows else "no job failed for good")
    return 0
