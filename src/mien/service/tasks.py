"""What each kind of task does: pictures and animations whole, a video looked at, made in segments and joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mien.errors import JobError
from mien.pipeline.checkpoint import Checkpoint
from mien.pipeline.dispatch import run_job
from mien.pipeline.executor import Execution
from mien.pipeline.job import Job as Work
from mien.pipeline.progress import Progress
from mien.pipeline.video_job import VideoJob, prepared
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from mien.report import Report
from mien.service.records import TaskName
from mien.service.reports import combine
from mien.service.state import JOIN, START, Grant, segment_number
from mien.service.workspace import Desk

SURVEY = "people.sealed"


@dataclass(frozen=True, slots=True)
class Tools:
    """What a try works with."""

    workshop: Workshop
    progress: Callable[[Progress], None]
    cancelled: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Finished:
    """The job's result, in the try's folder."""

    path: Path
    report: Report


@dataclass(frozen=True, slots=True)
class Split:
    """A video's segments (first frame, index after the last), and what others need to make them."""

    segments: tuple[tuple[int, int], ...]
    frames: int
    output: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """What a segment's try left in storage for the join."""

    output: dict[str, Any]


def run_task(
    grant: Grant, recipe: Recipe, desk: Desk, tools: Tools, earlier: Mapping[TaskName, Any]
) -> Finished | Split | Made:
    """Do one task.

    Args:
        grant: which.
        recipe: the job's, with files that lie in the desk's folder.
        desk: where it is done.
        tools: what it is done with.
        earlier: what the finished tasks of the job gave.

    Raises:
        Interrupted: it was cancelled.
        MienError: it cannot be done.
    """
    if grant.task == START:
        return _start(recipe, desk, tools)
    video = _Video(recipe, desk, tools, earlier)
    return video.join() if grant.task == JOIN else video.segment(grant)


def _start(recipe: Recipe, desk: Desk, tools: Tools) -> Finished | Split:
    found: list[Split] = []

    def look(work: Work) -> None:
        with _parts(work, desk, watched=True) as video:
            segments = tuple((segment.first, segment.end) for segment in video.segments)
            found.append(Split(segments, video.source.info.frame_count, {}))

    report = _run(recipe, tools, look)
    if not found:
        return Finished(Path(recipe.output), report)
    output = {"survey": desk.store(Checkpoint(desk.folder).survey_path), "report": report.to_mapping()}
    if desk.made(target := Path(recipe.target)):
        output["target"] = desk.store(target)
    return replace(found[0], output=output)


@dataclass(frozen=True, slots=True)
class _Video:
    recipe: Recipe
    desk: Desk
    tools: Tools
    earlier: Mapping[TaskName, Any]

    def segment(self, grant: Grant) -> Made:
        self._bring_survey()
        number = segment_number(grant.task)
        made: list[Path] = []

        def make(work: Work) -> None:
            with _parts(work, self.desk) as video:
                segment = video.segments[number]
                if (segment.first, segment.end) != (grant.first, grant.end):
                    raise JobError("this worker divides the video into other segments than the one that looked at it")
                work.report.stages |= video.make_segments([segment]).busy_seconds
                self.desk.show(video.checkpoint.packets_path(segment))
                made.extend((video.checkpoint.packets_path(segment), video.checkpoint.counts_path(segment)))

        report = _run(self.recipe, self.tools, make)
        packets, counts = (self.desk.store(path) for path in made)
        return Made({"packets": packets, "counts": counts, "report": report.to_mapping()})

    def join(self) -> Finished:
        self._bring_survey()
        segments = {segment_number(name): parts for name, parts in self.earlier.items() if name not in (START, JOIN)}
        for parts in segments.values():
            for key in (parts["packets"], parts["counts"]):
                self.desk.bring_part(key, key.rsplit("/", 1)[1])

        def conclude(work: Work) -> None:
            with _parts(work, self.desk, watched=True) as video:
                work.report.segments = len(video.segments)
                video.conclude(Execution(0, {}, None))

        report = _run(self.recipe, self.tools, conclude)
        return Finished(Path(self.recipe.output), combine(report, [parts["report"] for parts in self.earlier.values()]))

    def _bring_survey(self) -> None:
        self.desk.bring_part(self.earlier[START]["survey"], Checkpoint(self.desk.folder).survey_path.name)


def _run(recipe: Recipe, tools: Tools, video: Callable[[Work], None]) -> Report:
    return run_job(recipe, tools.workshop, progress=tools.progress, cancelled=tools.cancelled, video=video)


def _parts(work: Work, desk: Desk, *, watched: bool = False) -> AbstractContextManager[VideoJob]:
    """The video of a job whose parts lie in the try's folder. Whoever begins and whoever ends looks at its content."""
    return prepared(work, lambda _encoding: nullcontext(Checkpoint(desk.folder)), watched=watched)
