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
        corners, weights = self.corners, self.weights
        carried = values.take(corners[:, 0], axis=0) * weights[:, :1]
        for number in (1, 2):
            carried += values.take(corners[:, number], axis=0) * weights[:, number : number + 1]
        return carried


def rasterise(points: Floats, triangles: Indices, height: int, width: int) -> Coverage:
    """Draw triangles in order, later ones over earlier ones.

    Args:
        points: (n, 2) x, y in cells; the centre of cell (row, column) is at (column, row).
        triangles: (m, 3) vertex indices, in either orientation.
        height: rows of the grid.
        width: columns of the grid.
    """
    (x0, y0), (x1, y1), (x2, y2) = (points.take(triangles[:, number], axis=0).T for number in range(3))
    # 32-bit indices: twice as fast as the platform's own.
    left, right = _span(x0, x1, x2, width)
    top, bottom = _span(y0, y1, y2, height)
    spans = np.maximum(right - left + 1, 0)
    area = (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0)
    counts = np.where(np.abs(area) > 1e-9, spans * np.maximum(bottom - top + 1, 0), 0)

    # Every cell of every triangle's box; all that follows is by cell.
    drawn = np.repeat(np.arange(len(triangles), dtype=np.int32), counts)
    first = (np.cumsum(counts) - counts).astype(np.int32)
    row, column = np.divmod(np.arange(len(drawn), dtype=np.int32) - first.take(drawn), spans.take(drawn))

    # The weights of the second and third corner, as planes over the box.
    inverse = (1 / np.where(counts > 0, area, 1)).astype(np.float32)
    x, y = (left - x0).astype(np.float32), (top - y0).astype(np.float32)
    along, below = column.astype(np.float32), row.astype(np.float32)
    across, down = (y2 - y0) * inverse, (x0 - x2) * inverse
    u = (x * across + y * down).take(drawn) + across.take(drawn) * along + down.take(drawn) * below
    across, down = (y0 - y1) * inverse, (x1 - x0) * inverse
    v = (x * across + y * down).take(drawn) + across.take(drawn) * along + down.take(drawn) * below

    hits = np.flatnonzero((u >= -_SLACK) & (v >= -_SLACK) & (u + v <= 1 + _SLACK))
    owner = np.full(height * width, -1, dtype=np.intp)
    hit = drawn.take(hits)
    owner[(row.take(hits) + top.take(hit)) * width + column.take(hits) + left.take(hit)] = hits
    cells = np.flatnonzero(owner >= 0)
    kept = owner.take(cells)
    u, v = u.take(kept).astype(np.float32), v.take(kept).astype(np.float32)
    corners = triangles.T.take(drawn.take(kept), axis=1)
    return Coverage(cells, corners.T, np.stack([1 - u - v, u, v]).T)


def _span(a: Floats, b: Floats, c: Floats, end: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """First and last cell, of `end` ones, between the least and the greatest of three coordinates."""
    low = np.ceil(np.minimum(np.minimum(a, b), c))
    high = np.floor(np.maximum(np.maximum(a, b), c))
    return np.maximum(low, 0).astype(np.int32), np.minimum(high, end - 1).astype(np.int32)
