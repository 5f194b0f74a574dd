"""The picture a face is drawn on: pixel and grid coordinates of one edit, and the face's mesh on the grid."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Floats, rasterise
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
    def step(self) -> Floats:
        """(2,) pixels per cell in x and y."""
        return np.float32([self.width / self.columns, self.height / self.rows])

    def to_grid(self, points: Floats) -> Floats:
        """Pixels (n, 2) to cells."""
        return ((points + 0.5) / self.step - 0.5).astype(np.float32)

    def cells(self) -> tuple[Floats, Floats]:
        """x and y in pixels of each cell's centre, both (rows, columns)."""
        x = (np.arange(self.columns, dtype=np.float32) + 0.5) * self.step[0] - 0.5
        y = (np.arange(self.rows, dtype=np.float32) + 0.5) * self.step[1] - 0.5
        return tuple(np.meshgrid(x, y))  # type: ignore[return-value]

    def shrink(self, picture: Floats) -> Floats:
        """The patch (height, width, c) averaged over each cell."""
        return cv2.resize(picture, (self.columns, self.rows), interpolation=cv2.INTER_AREA)

    def enlarge(self, field: Floats) -> Floats:
        """A grid field (rows, columns[, c]) at every pixel, linear between cells."""
        return cv2.resize(field, (self.width, self.height), interpolation=cv2.INTER_LINEAR)

    def sample(self, field: Floats, points: Floats) -> Floats:
        """A grid field read at points (n, m, 2) in pixels."""
        at = self.to_grid(points)
        return cv2.remap(field, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A face's mesh on the grid of a canvas; every array is (rows, columns[, c])."""

    plane: Floats
    """u, v of the texture plane, 0..1; carried on a little beyond the face."""
    covered: NDArray[np.bool_]
    """True where the face itself (not its skirt) covers the cell's centre."""
    facing: Floats
    """How squarely the surface faces the camera, 0..1."""


def draw(canvas: Canvas, points: Floats) -> Drawn:
    """Draw a face.

    Args:
        canvas: where.
        points: (468, 3) x, y in pixels of the patch, z on the same scale.
    """
    whole = add_skirt(points)
    attributes = np.zeros((len(whole), 4), np.float32)
    attributes[:, :2] = plane()
    attributes[:, 2] = np.maximum(facing(whole), 0)
    attributes[FACE_POINTS:, 3] = 1
    coverage = rasterise(canvas.to_grid(whole[:, :2]), draw_order(whole), canvas.rows, canvas.columns)
    values = np.zeros((canvas.rows * canvas.columns, 5), np.float32)
    values[coverage.cells, :4] = coverage.lift(attributes)
    values[coverage.cells, 4] = 1
    values = values.reshape(canvas.rows, canvas.columns, 5)
    covered = (values[..., 4] > 0) & (values[..., 3] < 1e-3)
    values = _carried_on(values)
    return Drawn(np.ascontiguousarray(values[..., :2]), covered, values[..., 2])


def _carried_on(values: Floats, rounds: int = 3) -> Floats:
    """Uncovered cells (last channel 0) next to covered ones take their neighbours' mean, a few cells far."""
    for _ in range(rounds):
        drawn = values[..., 4:] > 0
        sums = cv2.blur(values * drawn, (3, 3), borderType=cv2.BORDER_CONSTANT)
        means = sums / np.maximum(sums[..., 4:], 1e-6)
        values = np.where(drawn, values, np.where(sums[..., 4:] > 0, means, 0))
    return values


def hull(points: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Convex outline of points (n, 2+): its corners (k, 2) and their indices (k,)."""
    indices = cv2.convexHull(points[:, :2].astype(np.float32), returnPoints=False).reshape(-1)
    return points[indices, :2], indices.astype(np.intp)
