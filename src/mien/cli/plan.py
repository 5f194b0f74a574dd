"""`mien plan`: what a swap would run."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from mien.cli.console import STDOUT, complain, count_of, format_bytes, format_duration, table, write_json
from mien.cli.recipe_options import add_job_arguments, read_recipe, save_recipe
from mien.cli.targets import expand_sources, expand_targets, means_many
from mien.cli.wording import explain
from mien.errors import MienError

if TYPE_CHECKING:
    from mien.pipeline.plan import Plan
    from mien.recipe import Recipe

USAGE = "mien plan [options] SOURCE... TARGET [-o OUT]"
DESCRIPTION = """\
Say what `mien swap` with the same options would run, without running it: stages, networks with engine and precision,
expected memory and time. With --save-recipe the job is kept in a file, to be run later by `mien swap --recipe`."""
EXAMPLES = """\
  mien plan me.jpg clip.mp4
  mien plan me.jpg clip.mp4 -o result.mp4 --faces largest --save-recipe job.toml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_job_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def run(options: argparse.Namespace) -> int:
    """Plan the job, or all jobs, and print it; exit code 1 if one of many could not be done."""
    recipe = read_recipe(options, default_output=_output_beside)
    save_recipe(recipe, options)

    from mien.cli.media_files import check_sources, is_media

    recipe = expand_sources(recipe)
    check_sources(recipe)
    jobs = expand_targets(recipe, is_media)
    if means_many(recipe.target):
        return _many(jobs, options.policy, as_json=options.json)
    plan = _make(jobs[0], options.policy)
    if options.json:
        write_json(plan.to_mapping(), STDOUT)
    else:
        print(table(plan.rows()))
    return 0


def _output_beside(target: str) -> str:
    """A free name beside the target."""
    path = Path(target)
    endings = chain(["-swapped"], (f"-swapped-{number}" for number in count(2)))
    names = (path.with_name(f"{path.stem}{ending}{path.suffix}") for ending in endings)
    return str(next(name for name in names if not name.exists()))


def _many(jobs: Sequence[Recipe], policy: str | None, *, as_json: bool) -> int:
    plans: list[Plan] = []
    failed: list[tuple[str, str]] = []
    for job in jobs:
        try:
            plans.append(_make(job, policy))
        except MienError as error:
            failed.append((job.target, explain(error)))
    if as_json:
        errors = [{"target": target, "error": error} for target, error in failed]
        write_json([*(plan.to_mapping() for plan in plans), *errors], STDOUT)
    else:
        print(_format_many(plans))
    for target, error in failed:
        complain(f"{target} cannot be done: {error}")
    return 1 if failed else 0


def _make(job: Recipe, policy: str | None) -> Plan:
    """The plan of a job. The folder of the output need not be there yet: `mien swap` makes it for many targets."""
    from mien.pipeline.api import plan

    output = Path(job.output)
    folder = next(folder for folder in output.absolute().parents if folder.is_dir())
    if folder == output.absolute().parent:
        return plan(job, policy=policy)
    free = folder / f".{secrets.token_hex(4)}{output.suffix}"
    return replace(plan(replace(job, output=str(free)), policy=policy), output=job.output)


def _format_many(plans: Sequence[Plan]) -> str:
    rows = [["target", "kind", "size", "frames", "memory", "time"]]
    for plan in plans:
        size = f"{plan.width}x{plan.height}"
        memory, time = format_bytes(plan.expected_memory_bytes), format_duration(plan.estimated_seconds, decimals=0)
        rows.append([plan.target, plan.kind, size, str(plan.frames), memory, time])
    total = format_duration(sum(plan.estimated_seconds for plan in plans), decimals=0)
    return f"{table(rows, right=[2, 3, 4, 5])}\n\n{count_of(len(plans), 'target', 'targets')}, about {total} in all"
