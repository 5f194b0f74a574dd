"""One try from grant to word: done, failed or handed back, and nothing left behind."""

from __future__ import annotations

import logging
import mimetypes
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from mien.engine.memory import trim_heap
from mien.errors import (
    FaceError,
    Interrupted,
    MienError,
    PolicyError,
    UnreadableError,
    UnsupportedMediaError,
    UnwritableError,
    UsageError,
)
from mien.pipeline.api import Runner
from mien.pipeline.progress import Progress
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from mien.report import Report
from mien.service.decoding import Bounds
from mien.service.leases import Held, Leases
from mien.service.logs import JOB, TRACE
from mien.service.materials import Materials
from mien.service.records import Failure, Job, Result
from mien.service.rollout import Rollouts
from mien.service.spans import span
from mien.service.state import START, Grant, How, State
from mien.service.tasks import Finished, Made, Split, Tools, run_task
from mien.service.thumbnails import flagged_frames
from mien.service.tiers import TIERS
from mien.service.workspace import Desk, Workspace, clear_folder

_REFUSED = (UsageError, PolicyError, FaceError, UnreadableError, UnsupportedMediaError)
"""What no second try mends: it is about what was given."""
_LOG = logging.getLogger(__name__)


def how_after(error: Exception, job: Job) -> How:
    """What becomes of a task whose try ended with an error."""
    if isinstance(error, _REFUSED):
        return "refused"
    if job.channel == "canary":
        return "stable"
    return "dead" if isinstance(error, UnwritableError) else "again"


class Running:
    """Runs tries. Safe to use from several threads: they share networks and source faces."""

    def __init__(
        self, state: State, space: Workspace, leases: Leases, runner: Runner, bounds: Bounds, stopping: threading.Event
    ) -> None:
        self._state = state
        self._space = space
        self._leases = leases
        self._runner = runner
        self._materials = Materials(state, bounds)
        self._rollouts = Rollouts(state)
        self._stopping = stopping
        self._lock = threading.Lock()
        self._workshops: set[Workshop] = set()

    @property
    def workshops(self) -> tuple[Workshop, ...]:
        """Where networks are."""
        with self._lock:
            return tuple(self._workshops)

    def forget(self, sha256: str) -> None:
        """Drop what was made of a file that its tenant deleted."""
        for workshop in self.workshops:
            workshop.forget(sha256)

    def run(self, grant: Grant) -> None:
        """Do a task and say what became of it. Raises nothing: what cannot be told ends with the lease."""
        JOB.set(grant.job)
        try:
            with self._leases.hold(grant) as held:
                job = self._state.job(grant.job)
                if job is None:
                    return
                TRACE.set(job.trace or None)
                with span("task", job.trace, job=job.id, task=grant.task, attempt=grant.attempt) as describe:
                    counted = self._try(self._with_models(job, grant), held)
                    describe("counted", counted)
                if not counted:
                    clear_folder(self._space.storage, grant.folder)
                _LOG.info("try %s", "counts" if counted else "does not count", extra=_about(grant))
        except MienError as error:
            _LOG.error("%s", error, extra=_about(grant))
        finally:
            trim_heap()  # Threads of many jobs leave holes in the heap that the system would not get back.

    def _try(self, job: Job, held: Held) -> bool:
        """Whether the try counted, and what it left in storage is of use."""
        began = time.monotonic()
        try:
            with self._space.desk(held.grant) as desk:
                try:
                    return self._work(job, held, desk, began)
                except Exception as error:
                    # Whatever ends a try has to reach the state: this is the one place that catches everything.
                    self._end(job, held, error, desk.folder, time.monotonic() - began)
        except UnwritableError as error:  # Not even a folder: the disk is full.
            self._end(job, held, error, self._space.folder, 0.0)
        return False

    def _work(self, job: Job, held: Held, desk: Desk, began: float) -> bool:
        recipe = self._materials.recipe(job, held.grant, desk)
        tools = Tools(
            workshop=self._workshop(recipe),
            progress=_noting(held),
            cancelled=lambda: held.lost or self._stopping.is_set(),
        )
        outcome = run_task(held.grant, recipe, desk, tools, self._state.outputs(job.id))
        return self._publish(job, held.grant, desk, outcome, time.monotonic() - began)

    def _with_models(self, job: Job, grant: Grant) -> Job:
        """The job with the networks of its channel, which are chosen once."""
        if grant.task != START or job.models:
            return job
        channel, models = self._rollouts.assign(job)
        self._state.choose_models(grant, channel, models)
        return replace(job, channel=channel, models=models)

    def _workshop(self, recipe: Recipe) -> Workshop:
        with self._lock:
            workshop = self._runner.workshop(recipe.device, recipe.precision)
            self._workshops.add(workshop)
            return workshop

    def _publish(self, job: Job, grant: Grant, desk: Desk, outcome: Finished | Split | Made, busy_s: float) -> bool:
        if isinstance(outcome, Split):
            return self._state.split(
                grant, outcome.segments, frames=outcome.frames, output=outcome.output, busy_s=busy_s
            )
        if isinstance(outcome, Made):
            return self._state.made(grant, output=outcome.output, busy_s=busy_s)
        report = outcome.report
        result = Result(
            key=desk.store(outcome.path),
            name=_name(job),
            size_bytes=outcome.path.stat().st_size,
            media_type=mimetypes.guess_type(outcome.path.name)[0] or "application/octet-stream",
            report=_shown(report, job),
        )
        return self._state.complete(
            grant,
            result,
            frames=report.frames,
            busy_s=busy_s,
            flagged=flagged_frames(report, outcome.path, desk),
            needs_review=needs_review(report, job.review_above),
            figures=figures(report),
            totals={
                "frames": report.frames,
                "media_seconds": report.media_seconds,
                "cost": report.cost or 0.0,
            },
        )

    def _end(self, job: Job, held: Held, error: Exception, folder: Path, busy_s: float) -> None:
        if isinstance(error, Interrupted):
            if not held.lost:
                self._state.hand_back(held.grant)
            return
        if not isinstance(error, MienError):
            _LOG.error("a fault", exc_info=error, extra=_about(held.grant))
        # Where the worker keeps its files is nobody's business.
        failure = Failure(type(error).__name__, str(error).replace(f"{folder}/", "") or type(error).__name__)
        _LOG.warning("%s: %s", failure.kind, failure.message, extra=_about(held.grant))
        self._state.fail(held.grant, failure, how_after(error, job), busy_s=busy_s)


def needs_review(report: Report, bound: float | None) -> bool:
    """Whether the share of flagged frames is above the bound that the job set."""
    return bound is not None and flagged_share(report) > bound


def figures(report: Report) -> dict[str, float | None]:
    """What a rollout compares."""
    return {
        "seconds_per_frame": report.seconds / max(report.frames, 1),
        "distance": report.quality.identity_distance,
        "flagged": flagged_share(report),
    }


def flagged_share(report: Report) -> float:
    """Flagged frames among all, 0..1."""
    return len({flag.frame for flag in report.flagged}) / max(report.frames, 1)


def _about(grant: Grant) -> dict[str, object]:
    """What a line of the log says of a try."""
    return {"task": grant.task, "attempt": grant.attempt}


def _name(job: Job) -> str:
    """What the result is called; a preview says that it is one."""
    name = PurePosixPath(str(job.recipe["output"]))
    return f"{name.stem}-preview{name.suffix}" if TIERS[job.tier].is_preview else name.name


def _noting(held: Held) -> Callable[[Progress], None]:
    def note(progress: Progress) -> None:
        held.frames_done, held.stage = progress.done, progress.stage

    return note


def _shown(report: Report, job: Job) -> dict[str, object]:
    """A report with the names that the tenant gave. Its flagged frames are the job's; here their number is enough."""
    names = {"target": job.recipe["target"], "output": job.recipe["output"]}
    preview = TIERS[job.tier].is_preview
    return {**report.to_mapping(), **names, "flagged": len(report.flagged), "tier": job.tier, "preview": preview}
