"""Moving the surroundings of a face smoothly to its new outline."""

from __future__ import annotations

from typing import NamedTuple, cast

import cv2
import numpy as np

from mien.edit.canvas import Canvas, Drawn, Window, hull
from mien.edit.fields import gaussian, look_up, resize, smoothstep
from mien.edit.raster import Floats
from mien.geometry import Rect
from mien.native import face as kernels

GROWTH = 0.26
"""The rectangle reaches beyond the face by this part of its longer side, on every side."""
_REACH = 1.45
"""Distance from the middle, in outlines, from which on the surroundings stay."""
_RAYS = 180
"""Directions in which the outline's shift is tabulated."""
_LEAST_SHIFT = 0.02
"""Pixels; smaller displacements are none."""
_SHARPENING = 1.6
"""How much of the finest detail of lightness gives back what linear interpolation took: the result is as sharp as by
cubic interpolation, which takes longer."""


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


def displacement(
    canvas: Canvas, window: Window, drawn: Drawn, target: Floats, result: Floats, shift: Floats
) -> tuple[Floats, Floats]:
    """Where each cell of the result comes from: x and y in pixels, (rows, columns), to add to its own place.

    Inside the face the mesh says; outside, the outline's shift goes on and fades.

    Args:
        canvas: The patch.
        window: The part of it around the face.
        drawn: The result's mesh on the window, carrying the shift.
        target: (468, 3) the face as it is.
        result: (468, 3) the face as it is to be.
        shift: (468, 2) from the result back to the target.
    """
    share = gaussian(drawn.covered, 1.0) * drawn.covered
    rim = _window(canvas, target)
    moved: list[Floats] = []
    for far, within in zip(_beyond(canvas.coarser(), result, shift), (drawn.shift_x, drawn.shift_y), strict=True):
        field = resize(far, 2 * far.shape[0], 2 * far.shape[1])[: canvas.rows, : canvas.columns]
        part = field[window.cells]
        part += share * (within - part)
        moved.append(gaussian(field, 1.0) * rim)
    # Nothing is taken from beyond the patch: at the frame's edge there is no more picture.
    for field, places, end in zip(moved, canvas.cells(), (canvas.width, canvas.height), strict=True):
        np.clip(field, -np.maximum(places, 0), np.maximum(end - 1 - places, 0), out=field)
    still = np.maximum(np.abs(moved[0]), np.abs(moved[1])) < _LEAST_SHIFT
    for field in moved:
        field[still] = 0
    return moved[0], moved[1]


def _beyond(canvas: Canvas, result: Floats, shift: Floats) -> tuple[Floats, Floats]:
    """The shift of the convex outline, carried outwards along rays and fading; smooth enough for a coarse grid."""
    corners, indices = hull(result)
    centre = corners.mean(axis=0)
    rays = corners - centre
    bearings = np.arctan2(rays[:, 1], rays[:, 0])
    order = np.argsort(bearings)
    directions = np.linspace(-np.pi, np.pi, _RAYS, endpoint=False)
    columns = (np.hypot(rays[:, 0], rays[:, 1]), shift[indices, 0], shift[indices, 1])
    bearings = np.concatenate([bearings[order[-1:]] - 2 * np.pi, bearings[order], bearings[order[:1]] + 2 * np.pi])
    order = np.concatenate([order[-1:], order, order[:1]])
    table = [np.interp(directions, bearings, column[order]) for column in columns]
    # Blurred over the direction, so that the corners of the outline leave no rays in the surroundings.
    ring = np.stack(table, axis=1).astype(np.float32)
    ring = gaussian(np.concatenate([ring[-9:], ring, ring[:9]])[:, None], 2.5)[9:-8, 0]

    x, y = canvas.cells()
    dx, dy = np.broadcast_arrays(x - centre[0], y - centre[1])
    reach, angle = cv2.cartToPolar(np.ascontiguousarray(dx), np.ascontiguousarray(dy))
    at = cast(Floats, angle) * np.float32(_RAYS / (2 * np.pi))
    at = np.where(at < _RAYS / 2, at + _RAYS / 2, at - _RAYS / 2).astype(np.float32)
    zero = np.zeros_like(at)
    outline, move_x, move_y = cv2.split(
        cv2.remap(ring[None], at, zero, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    )
    fall = 1 - smoothstep(1.0, _REACH, cast(Floats, reach) / np.maximum(cast(Floats, outline), 1e-3))
    return cast(Floats, move_x * fall), cast(Floats, move_y * fall)


def _window(canvas: Canvas, target: Floats) -> Floats:
    """(rows, columns) 1 in the middle, 0 at the rim of the whole rectangle (not where the frame cuts it off)."""
    left, top, right, bottom = surroundings(target)
    x, y = canvas.cells()
    reach = 0.15 * min(right - left, bottom - top)
    across, down = (
        smoothstep(2 * canvas.step, 2 * canvas.step + reach, np.minimum(places - low, high - places))
        for places, low, high in ((x, left, right), (y, top, bottom))
    )
    return np.minimum(across, down)


class Moved(NamedTuple):
    """A picture with its pixels in their new places."""

    picture: Floats
    """(height, width, 3)"""
    window: Window
    """All that moved."""
    detail: Floats
    """(rows, columns of the window) the finest band of its lightness."""

    def detail_of(self, window: Window) -> Floats:
        """The detail of a part of the window."""
        (top, left), (rows, columns) = (one.start for one in self.window.pixels), window.pixels
        return self.detail[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]


def move(canvas: Canvas, picture: Floats, shift_x: Floats, shift_y: Floats, window: Window) -> Moved:
    """Take pixels from where the displacement says.

    Pixels that do not move stay as they are, bit for bit.

    Args:
        canvas: The patch.
        picture: (height, width, 3) what is on it.
        shift_x: (rows, columns) pixels.
        shift_y: As `shift_x`.
        window: Where the detail is wanted in any case.
    """
    moving = (shift_x != 0) | (shift_y != 0)
    moving[window.cells] = True
    rows, columns = np.flatnonzero(moving.any(axis=1)), np.flatnonzero(moving.any(axis=0))
    window = canvas.cells_window(rows[0] - 1, columns[0] - 1, rows[-1] + 2, columns[-1] + 2)
    x, y = (np.ascontiguousarray(one[window.cells]) for one in (shift_x, shift_y))
    moved, detail = kernels.move(picture, x, y, canvas.step, window.pixels, _SHARPENING)
    return Moved(moved, window, detail)


def move_small(canvas: Canvas, small: Floats, shift_x: Floats, shift_y: Floats) -> Floats:
    """As `move`, of the patch averaged over the cells of the grid."""
    x, y = (np.arange(count, dtype=np.float32) for count in (canvas.columns, canvas.rows))
    scale = np.float32(1 / canvas.step)
    return look_up(small, shift_x * scale + x, shift_y * scale + y[:, None])
