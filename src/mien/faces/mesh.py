"""The canonical face mesh (MediaPipe's) and the names of its parts.

Coordinates are centimetres: x to the right of the picture (the subject's left), y up, z towards the camera.
"Left" and "right" are the subject's own. Rings are closed: the last vertex is joined to the first.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]

VERTICES = 468
"""Vertices of the mesh; landmarks 468-477 are the irises and belong to no triangle."""


def _indices(*values: int) -> Indices:
    return _fixed(np.array(values, np.intp))


Array = TypeVar("Array", bound=NDArray[Any])


def _fixed(array: Array) -> Array:
    array.setflags(write=False)
    return array


def _load() -> dict[str, NDArray[Any]]:
    with np.load(Path(__file__).parent.parent / "models" / "bundled" / "canonical_face_mesh.npz") as stored:
        return {name: stored[name] for name in stored.files}


_STORED = _load()

XYZ: NDArray[np.float32] = _fixed(_STORED["xyz"].astype(np.float32))
"""(468, 3) cm."""
UV: NDArray[np.float32] = _fixed(_STORED["uv"].astype(np.float32))
"""(468, 2) texture coordinates 0..1, v downwards (the forehead is near 0.1, the chin near 0.95)."""
TRIANGLES: Indices = _fixed(_STORED["tri"].astype(np.intp))
"""(898, 3) vertices, counter-clockwise seen from the camera (y up)."""
PROCRUSTES_VERTICES: Indices = _fixed(_STORED["procrustes_idx"].astype(np.intp))
"""(33,) vertices that move least with expression: those that poses are fitted to."""
PROCRUSTES_WEIGHTS: NDArray[np.float32] = _fixed(_STORED["procrustes_w"].astype(np.float32))
"""(33,) their weights."""


def _mirror() -> Indices:
    flipped = XYZ * np.array([-1, 1, 1], np.float32)
    distances = np.linalg.norm(XYZ[:, None] - flipped[None], axis=2)
    return _fixed(distances.argmin(axis=1))


MIRROR: Indices = _mirror()
"""(468,) the vertex on the other side of the face; those of the midline are their own."""

OVAL = _indices(
    10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377,
    152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
)  # fmt: skip
"""Ring: outline of the face, from the forehead down the subject's left."""
LIPS_OUTER = _indices(61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 409, 270, 269, 267, 0, 37, 39, 40, 185)
"""Ring: outer edge of the lips, from the right corner along the lower lip."""
LIPS_INNER = _indices(78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308, 415, 310, 311, 312, 13, 82, 81, 80, 191)
"""Ring: inner edge of the lips, from the right corner along the lower lip."""
LEFT_EYE = _indices(263, 249, 390, 373, 374, 380, 381, 382, 362, 398, 384, 385, 386, 387, 388, 466)
"""Ring: edge of the left eyelids, from the outer corner along the lower lid."""
RIGHT_EYE = _indices(33, 7, 163, 144, 145, 153, 154, 155, 133, 173, 157, 158, 159, 160, 161, 246)
"""Ring: edge of the right eyelids, from the outer corner along the lower lid."""
LEFT_BROW = _indices(276, 283, 282, 295, 285, 336, 296, 334, 293, 300)
"""Ring: left eyebrow, lower edge inwards, then upper edge outwards."""
RIGHT_BROW = _indices(46, 53, 52, 65, 55, 107, 66, 105, 63, 70)
"""Ring: right eyebrow, lower edge inwards, then upper edge outwards."""
NOSE = _indices(
    168, 6, 197, 195, 5, 4, 1, 19, 94, 2, 98, 97, 326, 327, 64, 294, 48, 278, 115, 344,
    220, 440, 45, 275, 44, 274, 51, 281, 3, 248, 196, 419, 122, 351, 193, 417, 131, 360, 102, 331, 49, 279,
)  # fmt: skip
"""Bridge, tip and wings of the nose."""
RIGHT_IRIS = _indices(468, 469, 470, 471, 472)
"""Landmarks: centre of the right iris, then four on its edge."""
LEFT_IRIS = _indices(473, 474, 475, 476, 477)
"""Landmarks: centre of the left iris, then four on its edge."""
IRISES = _fixed(np.stack([RIGHT_IRIS, LEFT_IRIS]))
"""(2, 5) right, left."""
EYE_CORNERS = _indices(33, 133, 362, 263)
"""From left to right in the picture: right outer, right inner, left inner, left outer."""


@functools.cache
def flat() -> NDArray[np.float32]:
    """(478, 2) the mesh seen from the front in picture axes (y down), in face widths, its middle at 0.

    The irises' landmarks lie in the middles of their eyes.
    """
    points = XYZ[:, :2] * np.array([1, -1], np.float32)
    points = (points - points.mean(axis=0)) / np.ptp(points[:, 0])
    irises = [np.repeat(points[eye].mean(axis=0, keepdims=True), 5, axis=0) for eye in (RIGHT_EYE, LEFT_EYE)]
    return _fixed(np.concatenate([points, *irises]))


def triangles_of(vertices: Indices) -> NDArray[np.bool_]:
    """(898,) True where all three corners of a triangle are among `vertices`."""
    return np.isin(TRIANGLES, vertices).sum(axis=1) == 3


def triangle_normals(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit normals (898, 3) of the triangles of a face in *picture* axes (y down, z smaller = nearer).

    A normal with negative z faces the camera.

    Args:
        points: (468 or more, 3) landmarks.
    """
    first, second, third = (points[TRIANGLES[:, corner]] for corner in range(3))
    normals = np.cross(second - first, third - first)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)


def eye_distance(landmarks: NDArray[np.float32]) -> float:
    """Distance in space between the middles of the two eyes' corners, in the landmarks' unit."""
    right = (landmarks[33] + landmarks[133]) / 2
    left = (landmarks[263] + landmarks[362]) / 2
    return float(np.linalg.norm(left - right))
