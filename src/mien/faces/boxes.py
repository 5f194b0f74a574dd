"""Boxes (4,) left, top, right, bottom in pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Box = NDArray[np.float32]


def area(box: Box) -> float:
    """Square pixels."""
    return float(np.prod(np.maximum(box[2:] - box[:2], 0)))


def centre(box: Box) -> Box:
    """(2,) x, y."""
    return ((box[:2] + box[2:]) / 2).astype(np.float32)


def width(box: Box) -> float:
    """The longer side."""
    return float(np.max(box[2:] - box[:2]))


def intersection(first: Box, second: Box) -> float:
    """Square pixels that two boxes have in common."""
    inner = np.minimum(first[2:], second[2:]) - np.maximum(first[:2], second[:2])
    return float(np.prod(np.maximum(inner, 0)))


def intersection_over_union(first: Box, second: Box) -> float:
    """0..1."""
    shared = intersection(first, second)
    return shared / max(area(first) + area(second) - shared, 1e-9)


def covered(first: Box, second: Box) -> float:
    """0..1: the part of the smaller box that the other one covers."""
    return intersection(first, second) / max(min(area(first), area(second)), 1e-9)


def grown(box: Box, part: float) -> Box:
    """Larger on every side by a part of its width and height."""
    margin = (box[2:] - box[:2]) * part
    return np.concatenate([box[:2] - margin, box[2:] + margin]).astype(np.float32)


def of_points(points: NDArray[np.float32]) -> Box:
    """The box of points (n, 2 or more)."""
    return np.concatenate([points[:, :2].min(axis=0), points[:, :2].max(axis=0)]).astype(np.float32)
