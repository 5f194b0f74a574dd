"""Landmarks of one face, steadied over time without smearing its motion.

As long as optical flow carries the face from frame to frame (see `flow`), what the network finds corrects it slowly,
but for what eyes and lips do against the skin around them: that is taken from the network almost at once.

Without flow the motion is split: where the face is in the picture (a similarity in the plane, which follows fast), and
the face seen in its own coordinates (shape, expression, turn), which is smoothed by how fast each *region* moves, so
that a blink or an opening mouth passes while the noise of single landmarks does not.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mien.faces import mesh
from mien.faces.align import Similarity, similarity_2d
from mien.faces.filters import Filtered, OneEuro, advance, ahead, start, step_to

Floats = NDArray[np.float32]

PLACE = OneEuro(min_cutoff_hz=3.0, gain=60.0, speed_cutoff_hz=15.0, lead=0.7)
"""Position, in face widths."""
SIZE = OneEuro(min_cutoff_hz=2.0, gain=16.0, speed_cutoff_hz=6.0, lead=0.8)
"""Logarithm of the size."""
TURN = OneEuro(min_cutoff_hz=3.0, gain=12.0, speed_cutoff_hz=8.0, lead=0.9)
"""Angle in the picture's plane, radians."""
SHAPE = OneEuro(min_cutoff_hz=2.0, gain=80.0, speed_cutoff_hz=15.0, rest_speed=0.12, lead=0.3)
"""Landmarks in the face's own coordinates, in face widths."""

SLOW = 0.16
"""Share of the network's word in a frame where flow carries the face; larger in a track's first frames. By frames and
not by time, so that a track is warm after a dozen whatever the frame rate."""
FAST = 0.8
"""The same for what eyes and mouth do against the skin around them: a blink is over in five frames, and flow cannot see
a mouth's inside."""
DRIFTED = (0.017, 0.042)
"""Face widths by which a region may differ from the network's until its share begins to rise, and is `OVERRULED`. The
network's own trembling is about .004."""
OVERRULED = 0.3
"""Flow that went wrong is mended within a few frames; a network that a hand before the face confuses shows less."""

_AROUND = 0.055  # face widths from eyes and lips up to which skin is around them
_REGION = 0.07  # face widths over which speeds are pooled: about half an eye
_SHORTEST_S, _LONGEST_S = 1 / 240, 1 / 5


@dataclass(frozen=True, slots=True)
class Steady:
    """A face's filters after some frames."""

    place: Filtered
    """(2,) x, y of the face in pixels; speed in pixels a second."""
    size: Filtered
    """(1,) logarithm of the face's width in pixels."""
    turn: Filtered
    """(1,) radians, not wrapped."""
    shape: Filtered
    """(478, 3) face widths."""
    carried: int = 0
    """Frames in a row in which flow carried the face."""

    @property
    def landmarks(self) -> Floats:
        """(478, 3) the steadied landmarks in pixels."""
        return _outwards(self.shape.value, self.place.value, self.size.value, self.turn.value)

    @property
    def width(self) -> float:
        """The face's width in pixels."""
        return math.exp(float(self.size.value[0]))

    def expected(self, dt_s: float) -> Floats:
        """(478, 3) where the landmarks should be `dt_s` seconds on."""
        return _outwards(self.shape.value, *(ahead(part, dt_s) for part in (self.place, self.size, self.turn)))


def begin(landmarks: Floats) -> Steady:
    """Start with the first landmarks (478, 3) of a face."""
    place, size, turn = _placement(landmarks)
    shape = _inwards(landmarks, place, size, turn)
    return Steady(start(place), start(size), start(turn), start(shape))


def follow(steady: Steady, landmarks: Floats, dt_s: float, carried: Floats | None = None) -> Steady:
    """Take in the next frame, `dt_s` seconds on.

    Args:
        steady: The filters so far.
        landmarks: (478, 3) that the network found.
        dt_s: Seconds since the last frame.
        carried: (478, 3) the last `landmarks` of `steady`, carried on by optical flow; None where flow failed.
    """
    dt_s = min(max(dt_s, _SHORTEST_S), _LONGEST_S)
    points = landmarks if carried is None else corrected(carried, landmarks, steady.carried)
    place, size, turn = _placement(points)
    previous = float(steady.turn.value[0])
    nearest = previous + math.remainder(float(turn[0]) - previous, 2 * math.pi)
    turn = np.array([nearest], np.float32)
    shape = _inwards(points, place, size, turn)
    if carried is not None:
        return Steady(
            step_to(steady.place, place, dt_s, PLACE),
            step_to(steady.size, size, dt_s, SIZE),
            step_to(steady.turn, turn, dt_s, TURN),
            step_to(steady.shape, shape, dt_s, SHAPE),
            steady.carried + 1,
        )
    width = math.exp(float(size[0]))
    return Steady(
        advance(steady.place, place, dt_s, PLACE, lambda speed: float(np.linalg.norm(speed)) / width),
        advance(steady.size, size, dt_s, SIZE),
        advance(steady.turn, turn, dt_s, TURN),
        advance(steady.shape, shape, dt_s, SHAPE, _regional),
    )


def corrected(carried: Floats, landmarks: Floats, frames: int) -> Floats:
    """Bring carried landmarks nearer to what the network found.

    Args:
        carried: (478, 3) by flow.
        landmarks: (478, 3) by the network.
        frames: In how many frames before this one flow carried the face.
    """
    width = float(np.linalg.norm(landmarks[454] - landmarks[234]))
    off = landmarks - carried
    drift = _regional(off[:, :2] / width)
    doubt = np.clip((drift - DRIFTED[0]) / (DRIFTED[1] - DRIFTED[0]), 0, 1)
    least = max(SLOW, 1 / (frames + 2))
    share = least + max(OVERRULED - least, 0) * doubt
    change = share * off
    for part, around in _parts():
        own = off[part] - off[around].mean(axis=0)
        change[part] += np.maximum(FAST - share[part], 0) * own
    return (carried + change).astype(np.float32)


@functools.cache
def _pooling() -> Floats:
    """(478, 478) rows that average over neighbouring landmarks."""
    points = mesh.flat()
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    weights = np.exp(-0.5 * (distances / _REGION) ** 2)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


@functools.cache
def _parts() -> tuple[tuple[mesh.Indices, mesh.Indices], ...]:
    """The landmarks of each eye and of the mouth, and those of the skin around each."""
    points = mesh.flat()[: mesh.VERTICES]
    lips = np.concatenate([mesh.LIPS_OUTER, mesh.LIPS_INNER])
    parts: list[tuple[mesh.Indices, mesh.Indices]] = []
    for ring, inside in ((mesh.RIGHT_EYE, mesh.RIGHT_IRIS), (mesh.LEFT_EYE, mesh.LEFT_IRIS), (lips, lips[:0])):
        distances = np.linalg.norm(points[:, None] - points[ring][None], axis=2).min(axis=1)
        part = np.concatenate([ring, inside])
        parts.append((part, np.setdiff1d(np.flatnonzero(distances < _AROUND), part)))
    return tuple(parts)


def _regional(change: Floats) -> Floats:
    """(478, 1) size of a change (478, 2 or 3) of the landmarks, pooled over neighbours."""
    return np.sqrt(_pooling() @ np.square(change).sum(axis=1, keepdims=True))


def _placement(landmarks: Floats) -> tuple[Floats, Floats, Floats]:
    placed = similarity_2d(mesh.flat()[: mesh.VERTICES], landmarks[: mesh.VERTICES])
    angle = math.atan2(float(placed.rotation[1, 0]), float(placed.rotation[0, 0]))
    return placed.shift, np.array([math.log(placed.scale)], np.float32), np.array([angle], np.float32)


def _inwards(landmarks: Floats, place: Floats, size: Floats, turn: Floats) -> Floats:
    level = _rotation(-float(turn[0]))
    points = np.concatenate([(landmarks[:, :2] - place) @ level.T, landmarks[:, 2:]], axis=1)
    return (points / math.exp(float(size[0]))).astype(np.float32)


def _outwards(shape: Floats, place: Floats, size: Floats, turn: Floats) -> Floats:
    points = shape * math.exp(float(size[0]))
    placed = Similarity(1.0, _rotation(float(turn[0])), place).apply(points[:, :2])
    return np.concatenate([placed, points[:, 2:]], axis=1).astype(np.float32)


def _rotation(angle: float) -> Floats:
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.array([[cosine, -sine], [sine, cosine]], np.float32)
