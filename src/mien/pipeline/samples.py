"""Quality measured on samples of the result while it is made: identity, and how steady the face is."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.faces.face import Face
from mien.geometry import Rect
from mien.models.dlib_identity import SAME_PERSON_DISTANCE
from mien.pipeline.scene import FaceEdit
from mien.pipeline.tally import Tally

IDENTITY_SAMPLES = 12
"""Frames of a video on which identity is measured, at most one a second."""
STEADY_WINDOWS = 4
"""Stretches of a video on which steadiness is measured."""
WINDOW_FRAMES = 4
"""Frames of such a stretch: two second differences."""

TURNED_DEGREES = 25.0
"""Yaw, as landmarks show it, from which on much of a face is hidden that a source from the other side shows."""


class Measures(Protocol):
    """What is needed of the face analyser."""

    def embed(self, picture: NDArray[np.uint8], faces: Sequence[Face]) -> NDArray[np.float32]:
        """Identity embeddings (n, 128) of faces."""
        ...

    def landmarks(self, picture: NDArray[np.uint8], previous: Sequence[NDArray[np.float32]]) -> list[Face]:
        """The faces at these landmarks."""
        ...


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """Which frames are measured. It depends on the target alone, so that a resumed run measures the same frames."""

    identity: frozenset[int]
    steady: frozenset[int]
    content: frozenset[int] = frozenset()
    """Frames that the content gate looks at: one a second."""

    @classmethod
    def spread(cls, frames: int, frames_per_second: float) -> SamplePlan:
        """Samples spread evenly over `frames` frames."""
        seconds = frames / frames_per_second
        identity = spread(frames, min(IDENTITY_SAMPLES, max(1, int(seconds))))
        starts = spread(frames, min(STEADY_WINDOWS, max(1, int(seconds / 4))))
        steady = {start + step for start in starts for step in range(WINDOW_FRAMES)}
        content = spread(frames, max(1, math.ceil(seconds)))
        return cls(frozenset(identity), frozenset(steady), frozenset(content))

    def wants(self, index: int) -> tuple[bool, bool]:
        """Whether identity and steadiness are measured on frame `index`."""
        return index in self.identity, index in self.steady


@dataclass(frozen=True, slots=True)
class Sample:
    """A face's surroundings before and after the edit."""

    edit: FaceEdit
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    identity: bool
    steady: bool


def spread(length: int, count: int) -> list[int]:
    """`count` indices in the middles of equal parts of `range(length)`."""
    return sorted({(2 * part + 1) * length // (2 * count) for part in range(count)} & set(range(length)))


class Monitor:
    """Measures samples and adds what it finds to the tally of their segment."""

    def __init__(self, measures: Measures, sources: Mapping[int, NDArray[np.float32]]) -> None:
        """Args:
        measures: the face analyser.
        sources: (128,) identity embedding of the source by role, where a role has one.
        """
        self._measures = measures
        self._sources = sources
        self._steady: dict[int, _Motion] = {}

    def measure(self, index: int, samples: Sequence[Sample], tally: Tally) -> None:
        """Measure the samples of frame `index`; frames come in order."""
        for sample in samples:
            edit = sample.edit
            local = edit.face.face.landmarks - _origin(edit.rect)
            before = self._measures.landmarks(sample.before, [local])[0]
            after = self._measures.landmarks(sample.after, [local])[0]
            if sample.identity:
                self._identity(index, sample, before, after, tally)
            if sample.steady:
                self._steadiness(index, sample, before, after, tally)

    def _identity(self, index: int, sample: Sample, before: Face, after: Face, tally: Tally) -> None:
        was = self._measures.embed(sample.before, [before])[0]
        now = self._measures.embed(sample.after, [after])[0]
        if (source := self._sources.get(sample.edit.role)) is not None:
            distance = float(np.linalg.norm(now - source))
            tally.source_distances.append(distance)
            if distance >= SAME_PERSON_DISTANCE:
                for reason in _unlike(before):
                    tally.flag(index, reason, sample.edit.face.track)
        tally.target_distances.append(float(np.linalg.norm(now - was)))

    def _steadiness(self, index: int, sample: Sample, before: Face, after: Face, tally: Tally) -> None:
        origin = _origin(sample.edit.rect)
        points = np.stack([before.landmarks + origin, after.landmarks + origin])[:, :, :2]
        track = sample.edit.face.track
        motion = self._steady.get(track)
        if motion is None or motion.index != index - 1:
            motion = _Motion()
            self._steady[track] = motion
        jitter = motion.add(index, points)
        tally.jitter_before += jitter[0]
        tally.jitter_after += jitter[1]


def _unlike(face: Face) -> tuple[str, ...]:
    """Why a frame needs a look in which the source is not to be seen in the edited `face`."""
    return ("unlike-source", "turned") if abs(face.pose.yaw) >= TURNED_DEGREES else ("unlike-source",)


def _origin(rect: Rect) -> NDArray[np.float32]:
    return np.array([rect.x, rect.y, 0], np.float32)


class _Motion:
    """The last points of one face, before and after the edit."""

    def __init__(self) -> None:
        self.index = -1
        self._points: deque[NDArray[np.float32]] = deque(maxlen=3)

    def add(self, index: int, points: NDArray[np.float32]) -> tuple[float, float]:
        """Sums of squared second differences of `points` (2, n, 2) before and after; 0 until three frames are there."""
        self.index = index
        self._points.append(points)
        if len(self._points) < 3:
            return 0.0, 0.0
        second = self._points[0] - 2 * self._points[1] + self._points[2]
        before, after = np.square(second).sum(axis=(1, 2))
        return float(before), float(after)
