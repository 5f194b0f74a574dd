"""Triangles onto small grids: vertex values carried to the cells that a mesh covers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.native import face as kernels

Floats = NDArray[np.floating[Any]]
"""float32 arrays; the type checker takes products with plain numbers for float64."""
Indices = NDArray[np.intp]


def draw_triangles(points: Floats, triangles: Indices, values: Floats, field: Floats) -> Floats:
    """Draw triangles in order, later ones over earlier ones, into a field, which is returned.

    Args:
        points: (n, 2) x, y in cells; the centre of cell (row, column) is at (column, row).
        triangles: (m, 3) vertex indices, in either orientation.
        values: (n, channels) what the vertices carry; linear over a triangle.
        field: (height, width, channels), changed where it is covered.
    """
    points, values = (np.ascontiguousarray(one, np.float32) for one in (points, values))
    kernels.draw_triangles(points, values, triangles, field)
    return field
