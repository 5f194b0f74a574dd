"""Moving the surroundings of a face smoothly to its new outline."""

from __future__ import annotations

import cv2
import numpy as np

from mien.edit.canvas import Canvas, hull
from mien.edit.fields import smoothstep
from mien.edit.raster import Floats
from mien.geometry import Rect

GROWTH = 0.4
"""The rectangle reaches beyond the face by this part of its longer side, on every side."""
_LEAST_SHIFT = 0.02
"""Pixels; smaller displacements are none."""


def surroundings(points: Floats) -> tuple[float, float, float, float]:
    """left, top, right, bottom of the face grown to where the surroundings are left alone."""
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    margin = GROWTH * float((high - low).max())
    return float(low[0] - margin), float(low[1] - margin), float(high[0] + margin), float(high[1] + margin)


def rectangle(points: Floats, width: int, height: int) -> Rect:
    """The part of a frame of `width` x `height` that an edit of a face (n, 2+) in frame pixels may change."""
    left, top, right, bottom = surroundings(points)
    x, y = min(max(int(np.floor(left)), 0), width - 1), min(max(int(np.floor(top)), 0), height - 1)
    right, bottom = min(max(int(np.ceil(right)), x + 1), width), min(max(int(np.ceil(bottom)), y + 1), height)
    return Rect(x, y, right - x, bottom - y)


def displacement(canvas: Canvas, target: Floats, result: Floats, inside: Floats) -> Floats:
    """Where each cell of the result comes from: (rows, columns, 2) pixels to add to its own place.

    Args:
        canvas: the patch.
        target: (468, 3) the face as it is.
        result: (468, 3) the face as it is to be.
        inside: (rows, columns, 3) the displacement carried over the face's own mesh, and 1 where it covers the cell.
    """
    corners, indices = hull(result)
    moves = (target - result)[indices, :2]
    centre = corners.mean(axis=0)
    x, y = canvas.cells()
    dx, dy = x - centre[0], y - centre[1]
    angle, reach = np.arctan2(dy, dx), np.hypot(dx, dy)
    around = np.arctan2(corners[:, 1] - centre[1], corners[:, 0] - centre[0])
    order = np.argsort(around)
    table = np.linspace(-np.pi, np.pi, 181)
    rays = [
        np.interp(table, around[order], values[order], period=2 * np.pi)
        for values in (np.hypot(*(corners - centre).T), moves[:, 0], moves[:, 1])
    ]
    # A light blur over the angle: the outline's corners leave no rays in the surroundings.
    smooth = cv2.GaussianBlur(np.stack(rays, axis=1).astype(np.float32)[None], (0, 0), 2.5)[0]
    outline, move_x, move_y = (np.interp(angle, table, smooth[:, i]).astype(np.float32) for i in range(3))
    fall = 1 - smoothstep(1.0, 1.75, reach / np.maximum(outline, 1e-3))
    outside = np.stack([move_x * fall, move_y * fall], axis=-1)
    share = cv2.GaussianBlur(inside[..., 2:], (0, 0), 1.0)[..., None] * inside[..., 2:]
    field = inside[..., :2] * share + outside * (1 - share)
    field = cv2.GaussianBlur(field, (0, 0), 1.0) * _window(canvas, target)[..., None]
    field[np.abs(field).max(axis=-1) < _LEAST_SHIFT] = 0
    return field


def _window(canvas: Canvas, target: Floats) -> Floats:
    """(rows, columns) 1 in the middle, 0 at the rim of the whole rectangle (not where the frame cuts it off)."""
    left, top, right, bottom = surroundings(target)
    x, y = canvas.cells()
    reach = 0.15 * min(right - left, bottom - top)
    border = np.minimum(np.minimum(x - left, right - x), np.minimum(y - top, bottom - y))
    step = float(canvas.step.max())
    return smoothstep(2 * step, 2 * step + reach, border)
