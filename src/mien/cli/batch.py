"""Many targets one after the other: one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mien.cli.targets import make_parent
from mien.cli.wording import explain
from mien.errors import ContentRefused, Interrupted, PolicyError

if TYPE_CHECKING:
    from mien.recipe import Recipe
    from mien.report import Report


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one target: a report, an error, or neither if it was finished before."""

    job: Recipe
    report: Report | None = None
    error: Exception | None = None

    def to_mapping(self) -> dict[str, Any]:
        """Plain data, ready for JSON: the report, or the names and what happened."""
        if self.report is not None:
            return self.report.to_mapping()
        names: dict[str, Any] = {"target": self.job.target, "output": self.job.output}
        if self.error is None:
            return {**names, "already_done": True}
        if isinstance(self.error, PolicyError):
            names["problem"] = self.error.problem
        if isinstance(self.error, ContentRefused):
            names["times_s"] = list(self.error.times_s)
        return {**names, "error": explain(self.error)}


def run_batch(jobs: Sequence[Recipe], run_one: Callable[[Recipe, str], Report]) -> Iterator[Outcome]:
    """Run every job and yield what became of it; the folders of the outputs are made.

    When resuming, a target whose output is there is finished (outputs appear only when complete) and is left out,
    unless the recipe says to overwrite it.

    Args:
        jobs: one for each target.
        run_one: runs a job; the text names it for the progress display.

    Raises:
        Interrupted: the user stopped the running job.
    """
    for number, job in enumerate(jobs, start=1):
        if job.resume and not job.overwrite and Path(job.output).exists():
            yield Outcome(job)
            continue
        try:
            make_parent(job.output)
            yield Outcome(job, report=run_one(job, f"[{number}/{len(jobs)}] {Path(job.target).name}"))
        except Interrupted:
            raise
        except Exception as error:
            # Even a fault of mien in one target is no reason to leave out the others.
            yield Outcome(job, error=error)
