"""The picture a face is drawn on: pixel and grid coordinates of one edit, and the face's mesh on the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.fields import look_up, resize
from mien.edit.raster import Floats, Indices, rasterise
from mien.edit.texture import draw_order
from mien.edit.topology import FACE_POINTS, add_skirt, facing, plane

_CELLS = 76
"""Grid cells across a face: soft fields need no more."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A patch of the picture and a coarse grid over it. Pixel (row, column) has its centre at (column, row)."""

    height: int
    width: int
    rows: int
    columns: int

    @classmethod
    def over(cls, height: int, width: int, face_width: float) -> Canvas:
        """A grid of about 76 cells across a face of `face_width` pixels."""
        step = max(face_width / _CELLS, 1.0)
        return cls(height, width, max(round(height / step), 2), max(round(width / step), 2))

    @property
    def step_x(self) -> float:
        """Pixels per cell, along a row."""
        return self.width / self.columns

    @property
    def step_y(self) -> float:
        """Pixels per cell, down a column."""
        return self.height / self.rows

    def to_grid(self, points: Floats) -> Floats:
        """Pixels (n, 2) to cells."""
        return ((points + np.float32(0.5)) / np.float32([self.step_x, self.step_y]) - np.float32(0.5)).astype(
            np.float32
        )

    def cells(self) -> tuple[Floats, Floats]:
        """x (1, columns) and y (rows, 1) in pixels of the cells' centres."""
        x = (np.arange(self.columns, dtype=np.float32) + 0.5) * self.step_x - 0.5
        y = (np.arange(self.rows, dtype=np.float32) + 0.5) * self.step_y - 0.5
        return x.astype(np.float32)[None], y.astype(np.float32)[:, None]

    def shrink(self, picture: Floats) -> Floats:
        """The patch (height, width[, c]) averaged over each cell."""
        return resize(picture, self.rows, self.columns)

    def enlarge(self, field: Floats) -> Floats:
        """A grid field (rows, columns[, c]) at every pixel, linear between cells."""
        return cast(Floats, cv2.resize(field, (self.width, self.height), interpolation=cv2.INTER_LINEAR))


@dataclass(frozen=True, slots=True)
class Drawn:
    """A face's mesh on the grid of a canvas; every array is (rows, columns)."""

    u: Floats
    """Place in the texture plane, 0..1; carried on a little beyond the face."""
    v: Floats
    covered: Floats
    """1 where the face itself (not its skirt) covers the cell's centre, else 0."""
    facing: Floats
    """How squarely the surface faces the camera, 0..1."""

    def look_up(self, field: Floats) -> Floats:
        """A field (side, side[, c]) of the texture plane, seen on the grid."""
        side = np.float32(field.shape[0])
        return look_up(field, self.u * side - np.float32(0.5), self.v * side - np.float32(0.5))


def draw(canvas: Canvas, points: Floats) -> Drawn:
    """Draw a face.

    Args:
        canvas: where.
        points: (468, 3) x, y in pixels of the patch, z on the same scale.
    """
    whole = add_skirt(points)
    attributes = np.empty((len(whole), 4), np.float32)
    attributes[:, :2] = plane()
    attributes[:, 2] = np.maximum(facing(whole), 0)
    attributes[:, 3] = np.arange(len(whole)) >= FACE_POINTS
    coverage = rasterise(canvas.to_grid(whole[:, :2]), draw_order(whole), canvas.rows, canvas.columns)
    values = np.zeros((canvas.rows * canvas.columns, 4), np.float32)
    values[:, 3] = 2
    values[coverage.cells] = coverage.lift(attributes)
    u, v, towards, kind = cv2.split(values.reshape(canvas.rows, canvas.columns, 4))
    drawn = (kind < 1.5).astype(np.float32)
    u, v = _carried_on([u, v], drawn)
    return Drawn(u, v, (kind < 1e-3).astype(np.float32), cast(Floats, towards))


def _carried_on(fields: list[NDArray[np.generic]], drawn: Floats, rounds: int = 2) -> list[Floats]:
    """Cells next to drawn ones take their neighbours' mean, a few cells far."""
    values = [field * drawn for field in cast(list[Floats], fields)]
    for _ in range(rounds):
        near = cast(Floats, cv2.boxFilter(drawn, -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT))
        new = (drawn == 0) & (near > 0)
        share = new / np.maximum(near, 1)
        for index, value in enumerate(values):
            sums = cv2.boxFilter(value, -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT)
            values[index] = cast(Floats, value + sums * share)
        drawn = np.maximum(drawn, new.astype(np.float32))
    return values


def hull(points: Floats) -> tuple[Floats, Indices]:
    """Convex outline of points (n, 2+): its corners (k, 2) and their indices (k,)."""
    indices = cv2.convexHull(np.ascontiguousarray(points[:, :2]), returnPoints=False).reshape(-1).astype(np.intp)
    return points[indices, :2], indices
