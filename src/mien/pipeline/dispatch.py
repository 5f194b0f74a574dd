"""From a recipe to a report: checks, then the job that fits the target."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import cv2

import mien
from mien.errors import Interrupted
from mien.media.probe import probe
from mien.pipeline.claim import claim
from mien.pipeline.effects import check_effects
from mien.pipeline.guard import Guard, Permit
from mien.pipeline.job import Job
from mien.pipeline.meter import Meter
from mien.pipeline.output import check_free, check_output
from mien.pipeline.progress import ProgressCallback
from mien.pipeline.rates import remember
from mien.pipeline.video_job import run_video
from mien.pipeline.whole_job import run_animation, run_picture
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from mien.report import Report
from mien.trust.gate import Gate
from mien.trust.policy import Policy


def run_job(
    recipe: Recipe,
    workshop: Workshop,
    *,
    progress: ProgressCallback,
    cancelled: Callable[[], bool],
    video: Callable[[Job], None] = run_video,
    policy: Policy | None = None,
    permit: Permit | None = None,
) -> Report:
    """Do one job.

    Args:
        recipe: what to do.
        workshop: what jobs share.
        progress: called about ten times a second.
        cancelled: asked about ten times a second; True stops the job.
        video: does what is to be done with a video: all of it, or a part that others complete.
        policy: what is asked of the job; None = the installation's own.
        permit: asked before each segment and before the result is written; an error that it raises stops the job.

    Raises:
        PolicyError: the job is refused.
        Interrupted: `cancelled` said so, or Ctrl-C in the calling thread.
        MienError: it cannot be done; see `mien.errors`.
    """
    policy = policy or Policy.find()
    recipe = policy.apply(recipe)
    policy.check_output(recipe)
    check_effects(recipe)
    check_output(recipe)
    with claim(Path(recipe.output)) as warnings:
        check_free(recipe)  # Another job may just have ended.
        guard = make_guard(recipe, policy, workshop, permit)
        with guard.noted():
            guard.begin()
            return _run(guard, workshop, warnings, progress, cancelled, video)


def _run(
    guard: Guard,
    workshop: Workshop,
    warnings: Sequence[str],
    progress: ProgressCallback,
    cancelled: Callable[[], bool],
    video: Callable[[Job], None],
) -> Report:
    recipe, report = guard.recipe, guard.report
    run = {"picture": run_picture, "animation": run_animation, "video": video}[probe(recipe.target).kind]
    meter = Meter(workshop.sessions)
    networks = workshop.networks(recipe)
    for warning in (*warnings, *workshop.analyser.warnings, *networks.warnings):
        report.warn(warning)
    job = Job(recipe, workshop, networks, report, meter, progress, cancelled, guard)
    try:
        with _single_threaded_pixels():
            run(job)
    except KeyboardInterrupt as error:
        raise Interrupted("stopped by Ctrl-C") from error
    meter.fill(report, [*workshop.sessions, *networks.sessions], job.frames_made)
    used = {one.entry.id for one in networks.located.values()}
    remember(use for use in report.models if use.model in used)
    return report


def make_guard(recipe: Recipe, policy: Policy, workshop: Workshop, permit: Permit | None = None) -> Guard:
    """What refuses a job, with a fresh report."""
    report = Report(
        target=recipe.target, output=recipe.output, version=mien.__version__, price_per_hour=recipe.price_per_hour
    )
    gate = Gate(workshop.classifiers, policy) if recipe.gate == "on" else None
    return Guard(recipe, policy, gate, report, permit or (lambda: None))


@contextmanager
def _single_threaded_pixels() -> Generator[None]:
    """OpenCV without threads of its own: stages run side by side already, and more threads only wait for each other."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
