"""Where the source is seen: inside the face's outline, but not in the eyes and the mouth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mien.edit.canvas import hull
from mien.edit.fields import gaussian, smoothstep
from mien.edit.raster import Floats
from mien.edit.regions import polygon
from mien.faces import mesh

_EDGE = 0.025
"""Sigma of the outline's soft edge, in face widths; all of the edge lies inside the outline."""
_HOLE = 0.004
"""Sigma of the soft rim of eyes and mouth, in face widths."""
_FINENESS = 2.5
"""The outline is drawn on a grid whose cells are this many times smaller than the sigma of its edge."""


def outline(height: int, width: int, result: Floats, face_width: float) -> tuple[Floats, int]:
    """1 inside the outline of a face (n, 2+), 0 from the outline outwards, soft between.

    Returns:
        A field over `height` x `width` pixels, and the pixels a side of its cells.
    """
    sigma = max(_EDGE * face_width, 0.7)
    step = max(int(sigma / _FINENESS), 1)
    corners, _ = hull(result)
    mask = polygon((corners + 0.5) / step - 0.5, -(-height // step), -(-width // step))
    return smoothstep(0.5, 1.0, gaussian(mask, sigma / step)), step


def cut_holes(mask: Floats, result: Floats, face_width: float) -> None:
    """Take the eyes and what is between the lips out of a mask (height, width): there the target stays."""
    height, width = mask.shape
    sigma = max(_HOLE * face_width, 0.6)
    margin = int(3 * sigma) + 2
    for ring in (mesh.RIGHT_EYE, mesh.LEFT_EYE, mesh.LIPS_INNER):
        corners = result[ring, :2]
        low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - margin, 0)
        high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + margin, (width, height))
        if (high <= low).any():
            continue
        hole = polygon(corners - low, int(high[1] - low[1]), int(high[0] - low[0]))
        mask[low[1] : high[1], low[0] : high[0]] *= 1 - gaussian(hole, sigma)


def hide_behind(mask: Floats, face_width: float, nearer: Sequence[Floats]) -> None:
    """Take nearer faces, given by their landmarks (n, 2+) in pixels, out of a mask (height, width)."""
    height, width = mask.shape
    for points in nearer:
        corners, _ = hull(points)
        if (corners.max(axis=0) > 0).all() and (corners.min(axis=0) < (width, height)).all():
            mask *= 1 - gaussian(polygon(corners, height, width), max(0.01 * face_width, 0.6))
