"""The face mesh as the editor draws it: the canonical triangles and a skirt around them, and the texture plane.

The *texture plane* is the canonical mesh's own uv square, shrunk a little so that the skirt fits inside 0..1 as
well. u runs to the right and v downwards as the face is seen, and the two halves of a face mirror each other at
u = 0.5.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Floats, Indices, draw_triangles
from mien.faces import mesh

FACE_POINTS = 468
"""Vertices of the face; the skirt's come after them."""
FIELD = 96
"""Side of the square grids in the texture plane that hold soft fields (light, masks), in cells."""

_CENTRE = (0.5, 0.53)
_SHRINK = 0.88
_SKIRT = 0.12
"""Width of the skirt: how far it reaches beyond the oval, as a part of the distance from the centre."""


def add_skirt(points: Floats) -> Floats:
    """Face points (468, c) with the skirt's points appended: (504, c)."""
    oval = points[mesh.OVAL]
    return np.concatenate([points, oval + _SKIRT * (oval - oval.mean(axis=0))]).astype(np.float32)


@cache
def plane() -> Floats:
    """(504, 2) u, v of face and skirt in the texture plane, 0..1."""
    centre = np.asarray(_CENTRE, np.float32)
    points = 0.5 + (mesh.UV - centre) * _SHRINK
    return add_skirt(points.astype(np.float32))


@cache
def triangles() -> Indices:
    """(970, 3) skirt first, then the face; all counter-clockwise where they face the viewer in the texture plane."""
    oval = np.asarray(mesh.OVAL, np.intp)
    outer = np.arange(FACE_POINTS, FACE_POINTS + len(oval))
    following, outer_following = np.roll(oval, -1), np.roll(outer, -1)
    skirt = np.concatenate(
        [np.stack([oval, outer, outer_following], axis=1), np.stack([oval, outer_following, following], axis=1)]
    )
    every = np.concatenate([skirt, np.asarray(mesh.TRIANGLES, np.intp)])
    flipped = signed_areas(plane(), every) > 0
    every[flipped] = every[flipped][:, ::-1]
    return every


def signed_areas(points: NDArray[np.floating], corners: Indices) -> NDArray[np.floating]:
    """(m,) twice the signed area of triangles over points (n, 2+); negative = facing the viewer for `triangles()`."""
    a, b, c = points[corners[:, 0]], points[corners[:, 1]], points[corners[:, 2]]
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])


def to_grid(values: Floats, side: int, outside: float = 0.0) -> Floats:
    """Vertex values (504, c) as a (side, side, c) field in the texture plane, cell centres at (i + 0.5) / side."""
    field = np.full((side, side, values.shape[1]), outside, np.float32)
    return draw_triangles(plane() * side - 0.5, triangles(), values, field)


@cache
def _fans() -> Indices:
    """(k, 468) numbers of the face's triangles around each vertex, padded with the number after the last."""
    around: list[list[int]] = [[] for _ in range(FACE_POINTS)]
    for number, corners in enumerate(triangles()[2 * len(mesh.OVAL) :]):
        for vertex in corners:
            around[vertex].append(number)
    widest = max(map(len, around))
    return np.array([fan + [len(mesh.TRIANGLES)] * (widest - len(fan)) for fan in around], np.intp).T


def facing(points: Floats) -> Floats:
    """(504,) how much each vertex faces the camera, -1..1: 1 = straight. The skirt has the oval's values.

    Args:
        points: (504, 3) in picture axes, z smaller = nearer.
    """
    corners = triangles()[2 * len(mesh.OVAL) :]
    a, b, c = (points.take(corners[:, number], axis=0).T for number in range(3))
    (x1, y1, z1), (x2, y2, z2) = b - a, c - a
    normals = np.zeros((3, len(corners) + 1), np.float32)
    normals[:, :-1] = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
    x, y, z = normals.take(_fans(), axis=1).sum(axis=1)
    towards = -z / np.maximum(np.sqrt(x * x + y * y + z * z), 1e-9)
    return np.concatenate([towards, towards[mesh.OVAL]])


@cache
def neighbours() -> tuple[Indices, Floats]:
    """Vertices next to each face vertex, padded: (468, k) indices and (468, k, 1) weights that sum to 1."""
    around: list[set[int]] = [set() for _ in range(FACE_POINTS)]
    for a, b, c in mesh.TRIANGLES.tolist():
        around[a] |= {b, c}
        around[b] |= {a, c}
        around[c] |= {a, b}
    widest = max(map(len, around))
    indices = np.array([sorted(ring) + [i] * (widest - len(ring)) for i, ring in enumerate(around)], np.intp)
    weights = np.array([[1 / len(ring)] * len(ring) + [0.0] * (widest - len(ring)) for ring in around], np.float32)
    return indices, weights[:, :, None]
