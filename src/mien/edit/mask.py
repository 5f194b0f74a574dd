"""Where the source is seen: inside the face's outline, but not in the eyes and the mouth."""

from __future__ import annotations

import cv2
import numpy as np

from mien.edit.canvas import Canvas, hull
from mien.edit.fields import smoothstep
from mien.edit.raster import Floats
from mien.edit.regions import polygon
from mien.faces import mesh

_EDGE = 0.012
"""Sigma of the outline's soft edge, in face widths; the edge lies inside the outline."""
_HOLE = 0.006
"""Sigma of the soft rim of eyes and mouth, in face widths."""
_HALF = 2
"""The outline is drawn at this part of the resolution."""


def outline(canvas: Canvas, result: Floats, face_width: float) -> Floats:
    """(height, width) 1 inside the face's outline, 0 from the outline outwards, soft between."""
    height, width = -(-canvas.height // _HALF), -(-canvas.width // _HALF)
    corners, _ = hull(result)
    mask = polygon((corners + 0.5) / _HALF - 0.5, height, width)
    sigma = max(_EDGE * face_width / _HALF, 0.7)
    soft = smoothstep(0.55, 0.98, cv2.GaussianBlur(mask, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE))
    return cv2.resize(soft, (canvas.width, canvas.height), interpolation=cv2.INTER_LINEAR)


def holes(canvas: Canvas, result: Floats, face_width: float) -> Floats:
    """(height, width) 1 in the eyes and between the lips, where the target stays, 0 elsewhere, soft between."""
    mask = np.zeros((canvas.height, canvas.width), np.float32)
    sigma = max(_HOLE * face_width, 0.6)
    margin = int(3 * sigma) + 2
    for ring in (mesh.RIGHT_EYE, mesh.LEFT_EYE, mesh.LIPS_INNER):
        corners = result[ring, :2]
        low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - margin, 0)
        high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + margin, (canvas.width, canvas.height))
        if (high <= low).any():
            continue
        part = polygon(corners - low, int(high[1] - low[1]), int(high[0] - low[0]))
        part = cv2.GaussianBlur(part, (0, 0), sigma)
        view = mask[low[1] : high[1], low[0] : high[0]]
        np.maximum(view, part, out=view)
    return mask
