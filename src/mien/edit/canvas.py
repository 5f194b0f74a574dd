"""The picture a face is drawn on: pixel and grid coordinates of one edit, and the face's mesh on the grid."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import NamedTuple, cast

import cv2
import numpy as np

from mien.edit.fields import look_up, resize
from mien.edit.raster import Floats, Indices, draw_triangles
from mien.edit.topology import FACE_POINTS, add_skirt, plane
from mien.edit.unroll import draw_order
from mien.native import face as kernels

_CELLS = 64
"""Grid cells across a face: soft fields need no more."""
_MARGIN = 2
"""Cells around a face in its window."""


class Window(NamedTuple):
    """A part of a canvas, whole cells."""

    cells: tuple[slice, slice]
    """Rows and columns of the grid."""
    pixels: tuple[slice, slice]
    """Rows and columns of the patch."""

    @property
    def size(self) -> tuple[int, int]:
        """Height and width in pixels."""
        rows, columns = self.pixels
        return rows.stop - rows.start, columns.stop - columns.start

    @property
    def corner(self) -> Floats:
        """(2,) x, y of its first pixel."""
        return np.array([self.pixels[1].start, self.pixels[0].start], np.float32)


@dataclass(frozen=True, slots=True)
class Canvas:
    """A patch of the picture and a coarse grid over it. Pixel (row, column) has its centre at (column, row)."""

    height: int
    width: int
    step: int
    """Pixels per cell, in both directions."""

    @classmethod
    def over(cls, height: int, width: int, face_width: float) -> Canvas:
        """A grid of about 64 cells across a face of `face_width` pixels."""
        return cls(height, width, max(round(face_width / _CELLS), 1))

    @property
    def rows(self) -> int:
        """Rows of the grid; the last may reach beyond the patch."""
        return -(-self.height // self.step)

    @property
    def columns(self) -> int:
        """Columns of the grid; the last may reach beyond the patch."""
        return -(-self.width // self.step)

    def coarser(self) -> Canvas:
        """The same patch with cells twice as wide and high."""
        return Canvas(self.height, self.width, 2 * self.step)

    def window(self, points: Floats) -> Window:
        """The whole cells around points (n, 2+) in pixels, with a margin; at least one cell."""
        low, high = (self.to_grid(edge).tolist() for edge in (points[:, :2].min(axis=0), points[:, :2].max(axis=0)))
        left, top = (min(max(floor(at) - _MARGIN, 0), end - 1) for at, end in zip(low, self._ends, strict=True))
        right, bottom = (ceil(at) + _MARGIN + 1 for at in high)
        right, bottom = min(max(right, left + 1), self.columns), min(max(bottom, top + 1), self.rows)
        return self._window(top, left, bottom, right)

    def cells_window(self, top: int, left: int, bottom: int, right: int) -> Window:
        """The cells of these rows and columns that are on the grid."""
        return self._window(max(top, 0), max(left, 0), min(bottom, self.rows), min(right, self.columns))

    @property
    def _ends(self) -> tuple[int, int]:
        return self.columns, self.rows

    def _window(self, top: int, left: int, bottom: int, right: int) -> Window:
        rows = slice(top * self.step, min(bottom * self.step, self.height))
        columns = slice(left * self.step, min(right * self.step, self.width))
        return Window((slice(top, bottom), slice(left, right)), (rows, columns))

    def to_grid(self, points: Floats) -> Floats:
        """Pixels (..., 2) to cells."""
        half = np.float32(0.5)
        return ((points + half) * np.float32(1 / self.step) - half).astype(np.float32)

    def cells(self) -> tuple[Floats, Floats]:
        """x (1, columns) and y (rows, 1) in pixels of the cells' centres."""
        x, y = ((np.arange(count, dtype=np.float32) + 0.5) * self.step - 0.5 for count in self._ends)
        return x.astype(np.float32)[None], y.astype(np.float32)[:, None]

    def shrink(self, picture: Floats, window: Window) -> Floats:
        """The patch (height, width, c) averaged over each cell of a window: (rows, columns, c).

        Cells that are not in the window have the values of the nearest one that is.
        """
        (top, bottom), (left, right) = ((one.start, one.stop) for one in window.cells)
        small = kernels.shrink(picture[window.pixels], self.step)
        around = top, self.rows - bottom, left, self.columns - right
        return cast(Floats, cv2.copyMakeBorder(small, *around, cv2.BORDER_REPLICATE))

    def enlarge(self, field: Floats, window: Window) -> Floats:
        """A field over a window's cells, in whatever resolution, at each of its pixels: linear between, a new array."""
        rows, columns = (one.stop - one.start for one in window.cells)
        height, width = window.size
        return resize(field, rows * self.step, columns * self.step)[:height, :width]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A face's mesh on a grid; every array is (rows, columns)."""

    u: Floats
    """Place in the texture plane, 0..1; carried on a little beyond the face."""
    v: Floats
    covered: Floats
    """1 where the face itself (not its skirt) covers the cell's centre, else 0."""
    facing: Floats
    """How squarely the surface faces the camera, 0..1."""
    shift_x: Floats
    """What the vertices carry: pixels, 0 outside."""
    shift_y: Floats

    def look_up(self, field: Floats) -> Floats:
        """A field (side, side[, c]) of the texture plane, seen on the grid."""
        side = np.float32(field.shape[0])
        return look_up(field, self.u * side - np.float32(0.5), self.v * side - np.float32(0.5))


def draw(canvas: Canvas, window: Window, points: Floats, facing: Floats, shift: Floats) -> Drawn:
    """Draw a face.

    Args:
        canvas: where.
        window: the part of its grid that is drawn.
        points: (468, 3) x, y in pixels of the patch, z on the same scale.
        facing: (504,) how squarely face and skirt face the camera.
        shift: (468, 2) pixels, carried along.
    """
    whole = add_skirt(points)
    attributes = np.zeros((len(whole), 6), np.float32)
    attributes[:, :2] = plane()
    attributes[:, 2] = np.maximum(facing, 0)
    attributes[:FACE_POINTS, 3:5] = shift
    attributes[FACE_POINTS:, 5] = 1
    (top, bottom), (left, right) = ((one.start, one.stop) for one in window.cells)
    rows, columns = bottom - top, right - left
    at = canvas.to_grid(whole[:, :2]) - np.array([left, top], np.float32)
    values = np.zeros((rows, columns, 6), np.float32)
    values[..., 5] = 2
    draw_triangles(at, draw_order(whole), attributes, values)
    planes = (cast(Floats, one) for one in cv2.split(values))
    u, v, towards, shift_x, shift_y, kind = planes
    u, v = _carried_on(u, v, (kind < 1.5).astype(np.float32))
    return Drawn(u, v, (kind < 1e-3).astype(np.float32), towards, shift_x, shift_y)


def _carried_on(u: Floats, v: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """Cells next to drawn ones take their neighbours' mean, two cells far."""
    stacked = cast(Floats, cv2.merge([u, v, drawn]))
    for _ in range(2):
        sums = cv2.boxFilter(stacked, -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT)
        sum_u, sum_v, near = cv2.split(sums)
        share = (stacked[..., 2] == 0) / np.maximum(cast(Floats, near), 1)
        stacked = stacked + cast(
            Floats, cv2.merge([sum_u * share, sum_v * share, (near * share > 0).astype(np.float32)])
        )
    return np.ascontiguousarray(stacked[..., 0]), np.ascontiguousarray(stacked[..., 1])


def hull(points: Floats) -> tuple[Floats, Indices]:
    """Convex outline of points (n, 2+): its corners (k, 2) and their indices (k,)."""
    indices = cv2.convexHull(np.ascontiguousarray(points[:, :2]), returnPoints=False).reshape(-1).astype(np.intp)
    return points[indices, :2], indices
