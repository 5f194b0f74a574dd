"""Landmarks of one face, steadied over time without smearing its motion.

The motion is split: where the face is in the picture (a similarity in the plane, which follows fast), and the face
seen in its own coordinates (shape, expression, turn), which is smoothed by how fast each *region* moves, so that a
blink or an opening mouth passes while the noise of single landmarks does not.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mien.faces import mesh
from mien.faces.align import Similarity, similarity_2d
from mien.faces.filters import Filtered, OneEuro, advance, ahead, start

Floats = NDArray[np.float32]

PLACE = OneEuro(min_cutoff_hz=3.0, gain=60.0, speed_cutoff_hz=15.0, lead=0.7)
"""Position, in face widths."""
SIZE = OneEuro(min_cutoff_hz=2.0, gain=16.0, speed_cutoff_hz=6.0, lead=0.8)
"""Logarithm of the size."""
TURN = OneEuro(min_cutoff_hz=3.0, gain=12.0, speed_cutoff_hz=8.0, lead=0.9)
"""Angle in the picture's plane, radians."""
SHAPE = OneEuro(min_cutoff_hz=2.0, gain=80.0, speed_cutoff_hz=15.0, rest_speed=0.12, lead=0.3)
"""Landmarks in the face's own coordinates, in face widths."""

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


def follow(steady: Steady, landmarks: Floats, dt_s: float) -> Steady:
    """Take in the landmarks (478, 3) of the next frame, `dt_s` seconds on."""
    dt_s = min(max(dt_s, _SHORTEST_S), _LONGEST_S)
    place, size, turn = _placement(landmarks)
    previous = float(steady.turn.value[0])
    nearest = previous + math.remainder(float(turn[0]) - previous, 2 * math.pi)
    turn = np.array([nearest], np.float32)
    shape = _inwards(landmarks, place, size, turn)
    width = math.exp(float(size[0]))
    return Steady(
        advance(steady.place, place, dt_s, PLACE, lambda speed: float(np.linalg.norm(speed)) / width),
        advance(steady.size, size, dt_s, SIZE),
        advance(steady.turn, turn, dt_s, TURN),
        advance(steady.shape, shape, dt_s, SHAPE, _regional),
    )


@functools.cache
def _template() -> Floats:
    """(468, 2) the canonical mesh in the picture's plane, in face widths, its middle at 0."""
    points = mesh.XYZ[:, :2] * np.array([1, -1], np.float32)
    points = points - points.mean(axis=0)
    return points / (points[:, 0].max() - points[:, 0].min())


@functools.cache
def _pooling() -> Floats:
    """(478, 478) rows that average over neighbouring landmarks; irises count as parts of their eyes."""
    eyes = [mesh.RIGHT_EYE, mesh.LEFT_EYE]
    irises = [np.repeat(_template()[eye].mean(axis=0, keepdims=True), 5, axis=0) for eye in eyes]
    points = np.concatenate([_template(), *irises])
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    weights = np.exp(-0.5 * (distances / _REGION) ** 2)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def _regional(speed: Floats) -> Floats:
    return np.sqrt(_pooling() @ np.square(speed).sum(axis=1, keepdims=True))


def _placement(landmarks: Floats) -> tuple[Floats, Floats, Floats]:
    placed = similarity_2d(_template(), landmarks[: mesh.VERTICES])
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
