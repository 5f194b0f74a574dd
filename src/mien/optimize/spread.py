"""Which faces to take of many: those that differ most, by who it is, how the head is turned and how it is lit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mien.faces.face import Pose
from mien.models.dlib_identity import SAME_PERSON_DISTANCE

TURN_DEGREES = 30.0
"""A turn of the head that counts as much as another person: half way to a profile."""
LIGHT_LEVELS = 64.0
"""A difference of brightness or contrast, of 256 levels, that counts as much as another person."""
HELD_OUT = 3
"""Every third face is held out: it measures, and calibrates nothing."""


def traits(embedding: NDArray[np.float32], pose: Pose, chip: NDArray[np.uint8]) -> NDArray[np.float64]:
    """What tells a face from others, on one scale: 1 apart = as another person.

    Args:
        embedding: (128,) of the bundled identity network.
        pose: Of the head.
        chip: RGB of the face.
    """
    grey = chip.mean(axis=2)
    light = np.array([grey.mean(), grey.std()]) / LIGHT_LEVELS
    turn = np.array([pose.yaw, pose.pitch]) / TURN_DEGREES
    return np.concatenate([embedding / SAME_PERSON_DISTANCE, turn, light]).astype(np.float64)


def farthest_points(points: NDArray[np.float64], count: int) -> list[int]:
    """Rows of `points` (n, d), each the farthest from those before it; the first is the one nearest to the mean.

    The same points give the same rows; of equally far ones the first.
    """
    if not len(points) or count < 1:
        return []
    chosen = [int(np.argmin(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < min(count, len(points)):
        distance[chosen[-1]] = -1.0
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return chosen


def held_out(count: int) -> list[bool]:
    """Of so many faces in the order of `farthest_points`: which are held out. Of two it is the last."""
    if count == 2:
        return [False, True]
    return [number % HELD_OUT == HELD_OUT - 1 for number in range(count)]
