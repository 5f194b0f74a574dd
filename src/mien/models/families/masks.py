"""Masks of an aligned crop, float32 (height, width) 0..1: where the edited face is to be seen."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.errors import UsageError

Floats = NDArray[np.float32]

AREAS: dict[str, tuple[int, ...]] = {
    "upper-face": (*range(3), *range(31, 36), *range(14, 17), *range(17, 27)),
    "lower-face": (*range(3, 14), *range(31, 36)),
    "mouth": tuple(range(48, 68)),
}
"""Of the 68 points, those around each area."""
_EDGE_SIGMA = 5.0
"""Blur of a soft edge, pixels of the crop."""


def box(size: int, *, blur: float = 0.3, padding: tuple[float, float, float, float] = (0, 0, 0, 0)) -> Floats:
    """All of the crop but a soft border. Not to be written to: it is made once and kept.

    Args:
        size: Side of the crop, pixels.
        blur: Width of the border over half of the side, 0..1.
        padding: Top, right, bottom, left border in percent of the side, where that is wider.
    """
    return _box(size, blur, padding)


@functools.lru_cache(maxsize=32)
def _box(size: int, blur: float, padding: tuple[float, float, float, float]) -> Floats:
    reach = int(size * 0.5 * blur)
    top, right, bottom, left = (max(reach // 2, 1, int(size * percent / 100)) for percent in padding)
    mask = np.zeros((size, size), np.float32)
    mask[top : size - bottom, left : size - right] = 1
    if reach:
        mask = cast(Floats, cv2.GaussianBlur(mask, (0, 0), reach * 0.25))
    mask.setflags(write=False)
    return mask


def area(points: NDArray[Any], size: int, areas: Iterable[str]) -> Floats:
    """The hull of parts of the face, with a soft edge.

    Args:
        points: (68, 2) in pixels of the crop.
        size: Side of the crop.
        areas: Of `AREAS`.

    Raises:
        UsageError: an area of another name.
    """
    corners = np.concatenate([points[list(_known(AREAS, name, "area of the face"))] for name in areas])
    hull = cv2.convexHull(corners.astype(np.int32))
    return soften(cast(Floats, cv2.fillConvexPoly(np.zeros((size, size), np.float32), hull, (1.0,))))


def soften(mask: Floats) -> Floats:
    """The mask with an edge that is soft towards its inside only."""
    blurred = cv2.GaussianBlur(np.clip(mask, 0, 1), (0, 0), _EDGE_SIGMA)
    return cast(Floats, (np.clip(blurred, 0.5, 1) - 0.5) * 2)


def enlarge(masks: NDArray[Any], size: int) -> Floats:
    """Masks (n, height, width) of a network as masks of a crop: cut to 0..1, resized, with a soft edge."""
    return np.stack([soften(_resized(np.clip(mask, 0, 1), size)) for mask in masks.astype(np.float32)])


def combine(masks: Sequence[Floats]) -> Floats:
    """What all masks show."""
    return np.clip(np.minimum.reduce(masks), 0, 1)


def regions(labels: NDArray[Any], size: int, wanted: Iterable[str], known: dict[str, int]) -> Floats:
    """Masks (n, size, size) of parts of the face, from labels (n, height, width).

    Raises:
        UsageError: a region of a name that is not in `known`.
    """
    numbers = [_known(known, name, "region of the face") for name in wanted]
    return enlarge(np.isin(labels, numbers), size)


def _resized(mask: Floats, size: int) -> Floats:
    return mask if mask.shape == (size, size) else cast(Floats, cv2.resize(mask, (size, size)))


def _known(table: dict[str, Any], name: str, what: str) -> Any:
    if name not in table:
        raise UsageError(f"there is no {what} '{name}': it is one of {', '.join(table)}")
    return table[name]
