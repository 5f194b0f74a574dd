"""Where things are on the texture plane: the parts of a face as soft masks, the same for everybody."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Floats
from mien.edit.topology import plane
from mien.faces import mesh

_SHIFT = 4
"""Fractional bits of polygon corners given to OpenCV."""
_NOSTRILS = (98, 97, 2, 326, 327, 278, 294, 331, 279, 49, 64, 48, 102)


def polygon(points: NDArray[np.floating], height: int, width: int) -> Floats:
    """Anti-aliased mask 0..1 of a polygon (k, 2) in pixels; pixel centres at whole numbers."""
    mask = np.zeros((height, width), np.uint8)
    corners = np.round(points * (1 << _SHIFT)).astype(np.int32)
    cv2.fillPoly(mask, [corners], (255,), lineType=cv2.LINE_AA, shift=_SHIFT)
    return mask.astype(np.float32) / 255


def grown_hull(vertices: NDArray[np.integer], growth: float, side: int) -> Floats:
    """(side, side) mask of the convex hull of mesh vertices, grown by `growth` (texture plane units)."""
    corners = cv2.convexHull(plane()[np.asarray(vertices, np.intp)]).reshape(-1, 2)
    rays = corners - corners.mean(axis=0)
    lengths = np.maximum(np.linalg.norm(rays, axis=1, keepdims=True), 1e-6)
    return polygon((corners + rays * (growth / lengths)) * side - 0.5, side, side)


@cache
def inside_oval(side: int) -> Floats:
    """(side, side) signed distance to the oval in texture plane units, positive inside."""
    mask = (polygon(plane()[mesh.OVAL] * side - 0.5, side, side) > 0.5).astype(np.uint8)
    inner = cv2.distanceTransform(mask, cv2.DIST_L2, 5)
    outer = cv2.distanceTransform(1 - mask, cv2.DIST_L2, 5)
    return ((inner - outer) / side).astype(np.float32)


@cache
def features(side: int) -> Floats:
    """(side, side) 1 over eyes, brows, lips and nostrils with a margin, 0 on plain skin."""
    parts = [
        grown_hull(mesh.LEFT_EYE, 0.03, side),
        grown_hull(mesh.RIGHT_EYE, 0.03, side),
        grown_hull(mesh.LEFT_BROW, 0.045, side),
        grown_hull(mesh.RIGHT_BROW, 0.045, side),
        grown_hull(mesh.LIPS_OUTER, 0.025, side),
        grown_hull(np.asarray(_NOSTRILS), 0.01, side),
    ]
    return np.max(parts, axis=0)


@cache
def core(side: int) -> Floats:
    """(side, side) 1 where skin is least likely to be covered: cheeks, nose and the skin around the mouth."""
    brows = plane()[np.concatenate([mesh.LEFT_BROW, mesh.RIGHT_BROW])]
    rows = (np.arange(side, dtype=np.float32) + 0.5) / side
    below = (rows > brows[:, 1].mean()).astype(np.float32)[:, None]
    return (inside_oval(side) > 0.1) * below * (1 - features(side))
