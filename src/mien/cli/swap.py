"""`mien swap`: replace faces in one target or in many."""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from mien.cli.batch import Outcome, run_batch
from mien.cli.console import STDOUT, check_folder, complain, write_json
from mien.cli.progress import progress_of
from mien.cli.recipe_options import add_job_arguments, read_recipe, save_recipe
from mien.cli.stop import stop_on_signal
from mien.cli.summary import format_outcome, format_report
from mien.cli.targets import expand_sources, expand_targets, means_many
from mien.cli.wording import explain

if TYPE_CHECKING:
    from mien.pipeline.progress import ProgressCallback
    from mien.recipe import Recipe
    from mien.report import Report

USAGE = "mien swap [options] SOURCE... TARGET -o OUT"
DESCRIPTION = """\
Replace faces in TARGET by the face that the SOURCE pictures show, and write OUT. TARGET is a picture or a video, or
many of them: a folder, or a pattern in quotes. OUT is then a folder, in which each result is named after its target."""
EXAMPLES = """\
  mien swap me.jpg clip.mp4 -o result.mp4
  mien swap me1.jpg me2.jpg party.mp4 -o result.mp4 --reference anna.jpg
  mien swap --map me.jpg=anna.jpg --map you.jpg=ben.jpg party.mp4 -o result.mp4
  mien swap me.jpg "clips/*.mp4" -o results --json report.json
  mien swap --recipe job.toml --resume"""

RunOne = Callable[["Recipe", str], "Report"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_job_arguments(parser)
    output = parser.add_argument_group("what is told")
    output.add_argument("--json", metavar="REPORT", help="write the report as JSON to a file, or - for standard output")
    output.add_argument("--quiet", action="store_true", help="no progress and no table; errors are still told")


class RunsJobs(Protocol):
    """Does jobs, here or elsewhere. A context manager."""

    def run(self, recipe: Recipe, *, progress: ProgressCallback, cancelled: Callable[[], bool]) -> Report:
        """Do one job; see `mien.pipeline.api.run`."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


def run(options: argparse.Namespace) -> int:
    """Do the job, or all jobs; exit code 1 if one of many failed."""
    return swap_all(options, lambda: _runner(options.policy))


def swap_all(options: argparse.Namespace, open_runner: Callable[[], RunsJobs]) -> int:
    """Let a runner do the job, or all jobs, that the options describe; exit code 1 if one of many failed."""
    recipe = read_recipe(options)
    save_recipe(recipe, options)
    if options.json is not None:
        check_folder(options.json)

    from mien.cli.media_files import check_sources, is_media

    recipe = expand_sources(recipe)
    check_sources(recipe)
    jobs = expand_targets(recipe, is_media)
    tell = not options.quiet and options.json != STDOUT
    with stop_on_signal() as stopped, open_runner() as runner:

        def run_one(job: Recipe, label: str) -> Report:
            with progress_of(label, quiet=options.quiet) as progress:
                return runner.run(job, progress=progress, cancelled=stopped)

        if means_many(recipe.target):
            return _many(jobs, run_one, tell, options.json, options.debug)
        return _single(jobs[0], run_one, tell, options.json)


def _runner(policy: str | None) -> RunsJobs:
    from mien.pipeline.api import Runner

    return Runner(policy)


def _single(job: Recipe, run_one: RunOne, tell: bool, json_path: str | None) -> int:
    report = run_one(job, Path(job.target).name)
    if json_path is not None:
        write_json(report.to_mapping(), json_path)
    if tell:
        print(format_report(report))
    return 0


def _many(jobs: Sequence[Recipe], run_one: RunOne, tell: bool, json_path: str | None, debug: bool) -> int:
    outcomes: list[Outcome] = []
    try:
        for outcome in run_batch(jobs, run_one):
            outcomes.append(outcome)
            if tell:
                print(format_outcome(outcome), flush=True)
    finally:
        if json_path is not None:
            write_json([outcome.to_mapping() for outcome in outcomes], json_path)
    failed = [(outcome.job.target, outcome.error) for outcome in outcomes if outcome.error]
    if failed:
        complain(f"{len(failed)} of {len(jobs)} targets failed:")
        for target, error in failed:
            complain(f"  {target}: {explain(error)}")
            if debug:
                traceback.print_exception(error)
    return 1 if failed else 0
