"""A video: surveyed, swapped in segments that outlive the run, joined."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mien
from mien.engine.memory import trim_heap
from mien.errors import Interrupted, NoFaceError, PolicyError, UnwritableError
from mien.faces.people import People, tell_apart
from mien.faces.track import Tracker
from mien.media.encoding import Encoding, choose_encoding
from mien.media.frame import Frame
from mien.media.segments import SegmentWriter, join, usable
from mien.media.timing import Segment
from mien.media.video import VideoSource
from mien.pipeline.casting import RoleOf
from mien.pipeline.checkpoint import Checkpoint, Identity, open_checkpoint
from mien.pipeline.executor import Execution
from mien.pipeline.job import Job
from mien.pipeline.samples import SamplePlan
from mien.pipeline.scene import Scene
from mien.pipeline.segmented import Span, Wiring, run_segments
from mien.pipeline.survey import LOOKS, THOROUGH_LOOKS, frames_to_look_at, load_samples, save_samples, survey_frames
from mien.pipeline.tally import Tally
from mien.pipeline.watch import Watch, watching
from mien.recipe import Position, Recipe
from mien.trust.label import OPENING_S


def run_video(job: Job) -> None:
    """Do a job whose target is a video.

    Raises:
        UnreadableError, UnsupportedMediaError, UnwritableError: as reading and writing do.
        UsageError: `resume` was asked for and the parts there are of another job, or nothing lies in the range.
        NoFaceError: there is no face to replace, and the recipe does not allow that.
        PolicyError: what is shown, or whose face it is, is refused.
        Interrupted: the job was stopped.
    """
    with prepared(job, lambda encoding: _checkpoint(job, encoding)) as video:
        video.conclude(video.make_segments(video.segments))


@contextmanager
def prepared(
    job: Job, checkpoint_for: Callable[[Encoding], AbstractContextManager[Checkpoint]], *, watched: bool = True
) -> Generator[VideoJob]:
    """A video whose people are known, ready for its segments. Those who share them begin with the same survey.

    Args:
        job: whose target is a video.
        checkpoint_for: the folder of the parts, given what they are encoded with. A survey that lies there is used.
        watched: look at the target's content; others have done so, or will before the result is written, where not.

    Raises:
        MienError: as `run_video` does.
    """
    # The source pictures are read on the side: the first frame comes the sooner.
    with ThreadPoolExecutor(1, "mien-sources") as pool:
        building = pool.submit(job.build_roles)
        with job.stage("open", "opening"):
            source = open_target(job.recipe)
            encoding = encoding_for(job.recipe, source, job.networks.enlargement)
        with source, checkpoint_for(encoding) as checkpoint, watching(job.guard, source, watched) as watch:
            with job.stage("survey", "looking who is there"):
                people, role_of = _cast(job, source, checkpoint, watch)
            building.result()
            watch.first()
            trim_heap()  # What the preparation has freed is of no use to frames and encoder.
            yield VideoJob(job, source, encoding, checkpoint, people, role_of, watch)


def open_target(recipe: Recipe) -> VideoSource:
    """The part of the target video that the recipe asks for.

    Raises:
        UnreadableError, UsageError: see `VideoSource`.
    """
    start, end = (Position.parse(text) if text is not None else None for text in (recipe.start, recipe.end))
    return VideoSource(recipe.target, start=start, end=end)


def encoding_for(recipe: Recipe, source: VideoSource, enlargement: int = 1) -> Encoding:
    """How the result is encoded, `enlargement` times as wide and high as the source.

    Raises:
        UnsupportedMediaError: see `choose_encoding`.
    """
    suffix = Path(recipe.output).suffix
    info = source.info.enlarged(enlargement)
    return choose_encoding(info, suffix, codec=recipe.codec, crf=recipe.crf, preset=recipe.preset)


@contextmanager
def _checkpoint(job: Job, encoding: Encoding) -> Generator[Checkpoint]:
    """The job's checkpoint; removed in the end, unless an error leaves finished parts in it."""
    recipe = job.recipe
    identity = Identity.of(recipe, encoding, mien.__version__)
    checkpoint, discarded = open_checkpoint(Path(recipe.output), identity, resume=recipe.resume)
    if discarded:
        job.report.warn("finished parts of an earlier run were thrown away, as 'resume' was not given")
    try:
        yield checkpoint
    except (Interrupted, KeyboardInterrupt) as error:
        raise Interrupted(_kept(checkpoint)) from error
    except (NoFaceError, PolicyError):
        checkpoint.remove()  # There is nothing to go on with.
        raise
    except BaseException:
        _kept(checkpoint)
        raise
    checkpoint.remove()


def _kept(checkpoint: Checkpoint) -> str:
    """Keep the finished parts of a job that stops early, and say so."""
    if parts := checkpoint.parts:
        return f"stopped; {parts} finished {'part is' if parts == 1 else 'parts are'} kept for a run with 'resume'"
    checkpoint.remove()
    return "stopped; no part was finished, so nothing is kept"


def _cast(job: Job, source: VideoSource, checkpoint: Checkpoint, watch: Watch) -> tuple[People, RoleOf]:
    """Who is in the target and who of them is replaced. A run that resumes goes by what the first one saw."""
    path, vault = checkpoint.survey_path, job.guard.vault
    if not path.exists():
        samples = survey_frames(watch.through(_frames(job, source, LOOKS)), job.analyser)
        try:
            job.cast(tell_apart(samples))
        except NoFaceError:
            samples = survey_frames(_frames(job, source, THOROUGH_LOOKS), job.analyser)
        save_samples(samples, path, vault)
    people = tell_apart(load_samples(path, vault))
    return people, job.cast_or_leave(people)


def _frames(job: Job, source: VideoSource, looks: int) -> Iterator[Frame]:
    return job.unless_cancelled(frames_to_look_at(source, looks))


@dataclass(frozen=True, slots=True)
class VideoJob:
    """A video in work; made by `prepared`."""

    job: Job
    source: VideoSource
    encoding: Encoding
    checkpoint: Checkpoint
    people: People
    role_of: RoleOf
    watch: Watch

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All of them."""
        return self.source.segments(self.job.recipe.segment_seconds)

    def make_segments(self, wanted: Sequence[Segment]) -> Execution:
        """Make those of `wanted` that are not there yet."""
        info, job = self.source.info, self.job
        finished = [segment for segment in wanted if self._is_finished(segment)]
        unfinished = [segment for segment in wanted if segment not in finished]
        job.report.segments, job.report.segments_reused = len(self.segments), len(finished)
        samples = SamplePlan.spread(info.frame_count, float(info.frame_rate))
        tallies = [self._tally(segment) for segment in finished]

        def count(span: Span, tally: Tally) -> None:
            tallies.append(tally)
            job.guard.result(tallies, planned=len(samples.content))
            self.checkpoint.save_counts(span, tally.to_mapping())

        wiring = Wiring(
            frames=self.source.frames,
            scene=self._scene,
            monitor=job.make_monitor,
            samples=samples,
            writer=self._writer,
            counted=count,
            enlarge=job.enlarge,
            mark=job.marking.stamp(self._opening_frames()),
            permit=self._permit,
            examine=job.guard.examine,
            chunking=job.networks.chunking(info.width, info.height),
        )
        already = sum(segment.end - segment.first for segment in finished)
        tick = job.ticker(info.frame_count, already)
        return run_segments(unfinished, wiring, tick=tick, cancelled=job.cancelled)

    def conclude(self, execution: Execution) -> None:
        """Write the output and the report."""
        job, recipe = self.job, self.job.recipe
        made = [segment for segment in self.segments if self.checkpoint.is_finished(segment)]
        tallies = [self._tally(segment) for segment in made]
        job.guard.result(tallies)
        self.watch.finish()
        job.guard.permit()
        job.account(tallies, execution)
        job.report.media_seconds = self.source.info.duration_s
        for warning in (*self.encoding.warnings, *self.source.warnings):
            job.report.warn(warning)
        if not job.report.faces:
            job.require_faces()
            if job.copy_target():
                return
        with job.stage("join", "writing the output"):
            paths = [self.checkpoint.packets_path(segment) for segment in made]
            try:
                inscription = job.marking.inscription(self.encoding.width, self.encoding.height)
                for warning in join(self.source, paths, recipe.output, audio=recipe.audio, inscription=inscription):
                    job.report.warn(warning)
            except UnwritableError as error:
                raise UnwritableError(f"{error}; all parts are kept for a run with 'resume'") from error

    def _is_finished(self, segment: Segment) -> bool:
        return usable(self.checkpoint.packets_path(segment), self.encoding)

    def _tally(self, segment: Segment) -> Tally:
        return Tally.from_mapping(self.checkpoint.load_counts(segment))

    def _permit(self) -> None:
        self.watch.check()
        self.job.guard.permit()

    def _opening_frames(self) -> int:
        """How many frames begin within the time that a label is shown."""
        kept = self.source.index.times[self.source.first_rank : self.source.end_rank]
        end = kept[0] + OPENING_S / self.source.time_base
        return int(np.searchsorted(kept, float(end)))

    def _scene(self) -> Scene:
        return self.job.make_scene(Tracker(self.job.analyser, self.people), self.role_of)

    def _writer(self, span: Span) -> AbstractContextManager[Any]:
        return SegmentWriter(self.checkpoint.packets_path(span), self.source, self.encoding)
