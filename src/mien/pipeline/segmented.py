"""Frames of a video in independent segments: what is decoded for which segment, and what each stage does with it.

A segment's packets depend on its own frames and on the few before it (the *rehearsal*, in which follower and effects
find their state), never on how the run came there. So a run that goes on after an interruption makes the same packets
as one that was never interrupted, which rehearses on the same, still unedited frames while it ends the segment before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mien.edit.steps import Steps, at_once
from mien.faces.face import TrackedFace
from mien.media.frame import Frame
from mien.pipeline.executor import IN_FLIGHT, Execution, Stage, execute
from mien.pipeline.samples import Monitor, Sample, SamplePlan
from mien.pipeline.scene import FaceEdit, Scene
from mien.pipeline.tally import Tally
from mien.pipeline.turning import CHUNKS_IN_FLIGHT, Chunking, in_chunks, take_turns

REHEARSAL_FRAMES = 12
"""Frames before a segment that its follower and effects see: the landmark filter and the smoothing of colour and shape
have forgotten their start after about ten frames."""


class Span(Protocol):
    """A segment: half-open range of frames."""

    @property
    def number(self) -> int:
        """0, 1, ... in order of time."""
        ...

    @property
    def first(self) -> int:
        """Index of its first frame."""
        ...

    @property
    def end(self) -> int:
        """Index after its last frame."""
        ...


class Writer(Protocol):
    """Encodes frames."""

    def write(self, frame: Any) -> None:
        """Take the next of the frames that the same wiring gave."""
        ...


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a segmented run works with; each entry is called when it is needed."""

    frames: Callable[[int, int], Iterator[Frame]]
    """Frames of a half-open range, in order, writable."""
    scene: Callable[[], Scene]
    """A scene that has seen nothing."""
    monitor: Callable[[], Monitor]
    samples: SamplePlan
    writer: Callable[[Span], AbstractContextManager[Writer]]
    """Publishes the packets of a segment when it is left without an error."""
    counted: Callable[[Span, Tally], None]
    """Told the counts of a segment just before its packets are published; an error discards them."""
    enlarge: Callable[[Any], Frame] | None = None
    """Makes another size of a finished frame."""
    mark: Callable[[Frame], None] | None = None
    """Puts marks into a frame that nothing else will be done to."""
    permit: Callable[[], None] | None = None
    """Asked before each segment; an error stops the run."""
    examine: Callable[[Frame, Tally], None] | None = None
    """Looks at finished frames, about one a second, and counts what it sees."""
    chunking: Chunking | None = None
    """Where networks take turns: what is done with them is one stage then, so that no two groups are in use at once."""


@dataclass(slots=True)
class Part:
    """A segment in work."""

    span: Span
    scene: Scene
    monitor: Monitor
    tally: Tally = field(default_factory=Tally)


@dataclass(slots=True)
class Shot:
    """One part's view of one frame."""

    part: Part
    rehearsal: bool
    faces: Sequence[TrackedFace] = ()
    edits: Sequence[FaceEdit] = ()
    samples: Sequence[Sample] = ()


@dataclass(slots=True)
class Task:
    """One frame on its way; rehearsals come before the frame's own shot, because that one changes its pixels."""

    frame: Frame
    shots: list[Shot]


def run_segments(
    unfinished: Sequence[Span],
    wiring: Wiring,
    *,
    tick: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Execution:
    """Make the packets of all `unfinished` segments, in order of time; `items` of the result are frames written.

    Raises:
        Interrupted: `cancelled` said so. Segments that were complete stay.
    """
    chunking = wiring.chunking
    with _SegmentEncoder(wiring) as encoder:
        stages = _networked(wiring)
        if wiring.mark is not None:
            stages.append(Stage("mark", _each(_Marking(wiring.mark))))
        stages.append(Stage("encode", _each(encoder.take)))

        def tell(_done: int) -> None:
            if tick is not None:  # Frames decoded for a rehearsal alone are no progress.
                tick(encoder.written)

        execution = execute(
            in_chunks(_tasks(unfinished, wiring), chunking.frames if chunking else 1),
            stages,
            in_flight=CHUNKS_IN_FLIGHT if chunking else IN_FLIGHT,
            tick=tell,
            cancelled=cancelled,
        )
    return replace(execution, items=encoder.written)


def stretches(unfinished: Sequence[Span]) -> list[list[Span]]:
    """Segments that follow each other closely enough to be decoded in one go."""
    groups: list[list[Span]] = []
    for span in unfinished:
        if groups and span.first - REHEARSAL_FRAMES <= groups[-1][-1].end:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _tasks(unfinished: Sequence[Span], wiring: Wiring) -> Iterator[Task]:
    for group in stretches(unfinished):
        waiting, active = list(group), list[Part]()
        for frame in wiring.frames(max(group[0].first - REHEARSAL_FRAMES, 0), group[-1].end):
            while waiting and waiting[0].first - REHEARSAL_FRAMES <= frame.index:
                if wiring.permit is not None:
                    wiring.permit()
                active.append(Part(waiting.pop(0), wiring.scene(), wiring.monitor()))
            active = [part for part in active if frame.index < part.span.end]
            shots = [Shot(part, rehearsal=frame.index < part.span.first) for part in active]
            yield Task(frame, sorted(shots, key=lambda shot: not shot.rehearsal))


def _networked(wiring: Wiring) -> list[Stage[list[Task]]]:
    """The stages that use the field's networks, and those between them."""
    editing = _Editing(wiring.samples, wiring.chunking)
    stages = [Stage("follow", _each(_follow)), Stage("edit", editing), Stage("measure", _each(_Measuring(wiring)))]
    if wiring.enlarge is not None:
        stages.append(Stage("enlarge", _each(_Enlarging(wiring.enlarge))))
    return stages if wiring.chunking is None else [Stage("edit", _one_by_one(stages))]


def _each(work: Callable[[Task], None]) -> Callable[[list[Task]], None]:
    def work_all(tasks: list[Task]) -> None:
        for task in tasks:
            work(task)

    return work_all


def _one_by_one(stages: Sequence[Stage[list[Task]]]) -> Callable[[list[Task]], None]:
    def work_all(tasks: list[Task]) -> None:
        for stage in stages:
            stage.work(tasks)

    return work_all


def _follow(task: Task) -> None:
    for shot in task.shots:
        shot.faces = shot.part.scene.follow(task.frame)


@dataclass(frozen=True, slots=True)
class _Editing:
    plan: SamplePlan
    chunking: Chunking | None

    def __call__(self, tasks: list[Task]) -> None:
        # Effects that remember need one frame to be finished before the next one begins.
        if self.chunking is None or any(shot.part.scene.remembers for task in tasks for shot in task.shots):
            for task in tasks:
                at_once(self._steps(task))
        else:
            take_turns(map(self._steps, tasks), self.chunking.groups)

    def _steps(self, task: Task) -> Steps[None]:
        frame = task.frame
        for shot in task.shots:
            scene = shot.part.scene
            shot.faces = yield from scene.refine(frame, shot.faces)
            shot.edits = scene.plan(frame, shot.faces)
            if shot.rehearsal:
                yield from scene.rehearse(frame, shot.edits, shot.faces)
                continue
            before = self._views(frame, shot)
            yield from scene.apply(frame, shot.edits, shot.faces)
            shot.samples = [
                Sample(edit, view, frame.display(edit.rect), *self.plan.wants(frame.index))
                for edit, view in zip(shot.edits, before, strict=False)
            ]

    def _views(self, frame: Frame, shot: Shot) -> list[NDArray[np.uint8]]:
        if not any(self.plan.wants(frame.index)):
            return []
        return [frame.display(edit.rect) for edit in shot.edits]


@dataclass(frozen=True, slots=True)
class _Measuring:
    wiring: Wiring

    def __call__(self, task: Task) -> None:
        for shot in task.shots:
            if not shot.rehearsal:
                part, frame = shot.part, task.frame
                part.tally.add(frame.index, frame.time_s, [edit.face for edit in shot.edits])
                part.monitor.measure(frame.index, shot.samples, part.tally)
                if self.wiring.examine is not None and frame.index in self.wiring.samples.content:
                    self.wiring.examine(frame, part.tally)


@dataclass(frozen=True, slots=True)
class _Enlarging:
    enlarge: Callable[[Any], Frame]

    def __call__(self, task: Task) -> None:
        if any(not shot.rehearsal for shot in task.shots):
            task.frame = self.enlarge(task.frame)


@dataclass(frozen=True, slots=True)
class _Marking:
    mark: Callable[[Frame], None]

    def __call__(self, task: Task) -> None:
        if any(not shot.rehearsal for shot in task.shots):
            self.mark(task.frame)


class _SegmentEncoder:
    """Opens and closes a writer for each segment as its frames come. Left with an error, the open one is discarded."""

    def __init__(self, wiring: Wiring) -> None:
        self.written = 0
        self._wiring = wiring
        self._part: Part | None = None
        self._writer: Writer | None = None
        self._open = ExitStack()

    def take(self, task: Task) -> None:
        for shot in task.shots:
            if shot.rehearsal:
                continue
            if self._part is not shot.part:
                self._finish()
                self._part = shot.part
                self._writer = self._open.enter_context(self._wiring.writer(shot.part.span))
            assert self._writer is not None
            self._writer.write(task.frame)
            self.written += 1
            if task.frame.index == shot.part.span.end - 1:
                self._finish()

    def _finish(self) -> None:
        if self._part is not None:
            part, self._part, self._writer = self._part, None, None
            with self._open.pop_all():  # An error while counting discards the packets.
                self._wiring.counted(part.span, part.tally)

    def __enter__(self) -> _SegmentEncoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._finish()  # A target that ends early leaves its last segment open.
        else:
            self._open.__exit__(kind, error, trace)
