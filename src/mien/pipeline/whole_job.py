"""Pictures and animations: made in one go, nothing to resume."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from mien.errors import UsageError
from mien.faces.people import tell_apart
from mien.faces.track import Tracker
from mien.media.animation import AnimationSource, AnimationWriter
from mien.media.frame import Frame
from mien.media.pictures import Picture, read_picture, write_picture
from mien.media.stills.still import CREDENTIALS_DROPPED
from mien.pipeline.casting import RoleOf
from mien.pipeline.job import Job
from mien.pipeline.samples import SamplePlan, spread
from mien.pipeline.scene import Follower
from mien.pipeline.segmented import Span, Wiring, Writer, run_segments
from mien.pipeline.stills import StillFollower
from mien.pipeline.survey import LOOKS, survey_frames
from mien.pipeline.tally import Tally


@dataclass(frozen=True, slots=True)
class _Whole:
    """The one segment of such a job."""

    end: int
    number: int = 0
    first: int = 0


def run_picture(job: Job) -> None:
    """Do a job whose target is a picture.

    Raises:
        UnreadableError, UnsupportedMediaError, UnwritableError: as reading and writing do.
        NoFaceError: there is no face to replace, and the recipe does not allow that.
    """
    _warn_of_video_fields(job)
    with job.stage("read", "reading"):
        picture = read_picture(job.recipe.target)
        job.guard.target_frames([picture])
        job.build_roles()
    with job.stage("find", "finding faces"):
        samples = survey_frames([picture], job.analyser)
        people = tell_apart(samples)
    follower = StillFollower(samples, people)
    writer, size = _PictureWriter(picture, job), (picture.width, picture.height)
    _run(job, lambda: iter([picture]), 1, size, 1.0, follower, job.cast_or_leave(people), writer)
    for warning in picture.warnings:
        if not (warning == CREDENTIALS_DROPPED and job.marking.keeps_credentials):
            job.report.warn(warning)


def run_animation(job: Job) -> None:
    """Do a job whose target is an animated picture.

    Raises:
        UnreadableError, UsageError, UnwritableError: as reading and writing do.
        NoFaceError: there is no face to replace, and the recipe does not allow that.
    """
    _warn_of_video_fields(job)
    if job.networks.upscaler is not None:
        raise UsageError(f"{job.recipe.target} is an animation, which cannot be enlarged: leave out 'upscale'")
    with AnimationSource(job.recipe.target) as source:
        info = source.info
        job.report.media_seconds = info.duration_s
        with job.stage("sources", "reading"):
            job.build_roles()
        with job.stage("survey", "looking who is there"):
            job.guard.target_frames(_spread_frames(source, max(math.ceil(info.duration_s), LOOKS)))
            people = tell_apart(survey_frames(_spread_frames(source, LOOKS), job.analyser))
        tracker = Tracker(job.analyser, people)
        rate = info.frame_count / info.duration_s if info.duration_s else 10.0
        writer = AnimationWriter(job.recipe.output, source, job.marking.inscription(info.width, info.height))
        role_of, size = job.cast_or_leave(people), (info.width, info.height)
        _run(job, source.frames, info.frame_count, size, rate, tracker, role_of, writer)
        for warning in (*source.warnings, *writer.warnings):
            job.report.warn(warning)


def _spread_frames(source: AnimationSource, count: int) -> Iterator[Frame]:
    wanted = set(spread(source.info.frame_count, count))
    return (frame for frame in source.frames() if frame.index in wanted)


def _warn_of_video_fields(job: Job) -> None:
    given = [name for name in ("start", "end", "codec", "crf", "preset") if name in job.recipe.to_mapping()]
    if given:
        names = ", ".join(f"'{name}'" for name in given)
        job.report.warn(f"without effect on {job.recipe.target}, which is no video: {names}")


class _PictureWriter:
    """Writes the one frame it is given when it is left without an error."""

    def __init__(self, picture: Picture, job: Job) -> None:
        self._picture = picture
        self._job = job

    def write(self, frame: Frame) -> None:
        """Take the frame, which is the picture itself or a larger version of it."""
        assert isinstance(frame, Picture)
        self._picture = frame

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            job = self._job
            inscription = job.marking.inscription(self._picture.width, self._picture.height)
            for warning in write_picture(self._picture, job.recipe.output, inscription):
                job.report.warn(warning)


def _run(
    job: Job,
    frames: Callable[[], Iterator[Any]],
    total: int,
    size: tuple[int, int],
    frames_per_second: float,
    follower: Follower,
    role_of: RoleOf,
    writer: AbstractContextManager[Writer],
) -> None:
    tallies: list[Tally] = []

    def counted(_span: Span, tally: Tally) -> None:
        tallies.append(tally)
        job.guard.result(tallies)
        job.guard.permit()
        if not tally.faces:
            job.require_faces()

    wiring = Wiring(
        frames=lambda _first, _end: frames(),
        scene=lambda: job.make_scene(follower, role_of),
        monitor=job.make_monitor,
        samples=SamplePlan.spread(total, frames_per_second),
        writer=lambda _span: writer,
        counted=counted,
        enlarge=job.enlarge,
        mark=job.marking.stamp(),
        permit=job.guard.permit,
        examine=job.guard.examine,
        chunking=job.networks.chunking(*size),
    )
    execution = run_segments([_Whole(total)], wiring, tick=job.ticker(total), cancelled=job.cancelled)
    job.account(tallies, execution)
    if not job.report.faces:
        job.copy_target()
