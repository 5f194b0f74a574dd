"""Triangles onto small grids: which triangle covers a cell, and vertex values carried to the cells.

Grids here are coarse (about a hundred cells a side); NumPy draws a whole face in a millisecond.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
"""float32 arrays; the type checker takes products with plain numbers for float64."""
Indices = NDArray[np.intp]

_SLACK = 1e-4
"""Barycentric slack, so that a cell on an edge shared by two triangles is never left out."""


class Coverage(NamedTuple):
    """The cells of a (height, width) grid that triangles cover."""

    cells: Indices
    """(k,) flat indices of the covered cells, row by row."""
    corners: Indices
    """(k, 3) vertices of the triangle that covers each."""
    weights: Floats
    """(k, 3) barycentric weights of those vertices; they sum to 1."""

    def lift(self, values: Floats) -> Floats:
        """Vertex values (n, c) carried to the covered cells: (k, c)."""
        weights = self.weights
        return (
            values[self.corners[:, 0]] * weights[:, :1]
            + values[self.corners[:, 1]] * weights[:, 1:2]
            + values[self.corners[:, 2]] * weights[:, 2:]
        )


def rasterise(points: Floats, triangles: Indices, height: int, width: int) -> Coverage:
    """Draw triangles in order, later ones over earlier ones.

    Args:
        points: (n, 2) x, y in cells; the centre of cell (row, column) is at (column, row).
        triangles: (m, 3) vertex indices, in either orientation.
        height: rows of the grid.
        width: columns of the grid.
    """
    corners = points[triangles]
    # 32-bit indices: twice as fast as the platform's own.
    low = np.maximum(np.ceil(corners.min(axis=1)), 0).astype(np.int32)
    high = np.minimum(np.floor(corners.max(axis=1)), (width - 1, height - 1)).astype(np.int32)
    spans = np.maximum(high - low + 1, 0)
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    counts = np.where(np.abs(area) > 1e-9, spans[:, 0] * spans[:, 1], 0)

    drawn = np.repeat(np.arange(len(triangles), dtype=np.int32), counts)
    starts = (np.cumsum(counts) - counts).astype(np.int32)
    rank = np.arange(len(drawn), dtype=np.int32) - starts[drawn]
    span = spans[drawn, 0]
    row = rank // span
    column = rank - row * span
    x, y = column + low[drawn, 0], row + low[drawn, 1]

    inverse = 1 / np.where(counts > 0, area, 1)
    dx, dy = x - corners[drawn, 0, 0], y - corners[drawn, 0, 1]
    u = (dx * second[drawn, 1] - dy * second[drawn, 0]) * inverse[drawn]
    v = (dy * first[drawn, 0] - dx * first[drawn, 1]) * inverse[drawn]
    inside = (u >= -_SLACK) & (v >= -_SLACK) & (u + v <= 1 + _SLACK)

    owner = np.full(height * width, -1, dtype=np.intp)
    hits = np.flatnonzero(inside)
    owner[y[hits] * width + x[hits]] = hits
    cells = np.flatnonzero(owner >= 0)
    kept = owner[cells]
    weights = np.stack([1 - u[kept] - v[kept], u[kept], v[kept]], axis=1).astype(np.float32)
    return Coverage(cells, triangles[drawn[kept]], weights)
