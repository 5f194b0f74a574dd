"""The face mesh as the editor draws it: the canonical triangles and a skirt around them, and the texture plane.

The *texture plane* is the canonical mesh's own uv square, shrunk a little so that the skirt fits inside 0..1 as
well. u runs to the right and v downwards as the face is seen, and the two halves of a face mirror each other at
u = 0.5.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Coverage, Floats, Indices, rasterise
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


@cache
def grid(side: int) -> Coverage:
    """The texture plane drawn on a `side` x `side` grid, cell centres at (i + 0.5) / side."""
    return rasterise(plane() * side - 0.5, triangles(), side, side)


def to_grid(values: Floats, side: int, outside: float = 0.0) -> Floats:
    """Vertex values (504, c) as a (side, side, c) field in the texture plane."""
    coverage = grid(side)
    field = np.full((side * side, values.shape[1]), outside, np.float32)
    field[coverage.cells] = coverage.lift(values)
    return field.reshape(side, side, -1)


@cache
def _fans() -> tuple[Indices, Floats]:
    """Face triangles around each vertex, padded: (468, k) indices, the skirt not counted, and (468, k, 1) weights."""
    around: list[list[int]] = [[] for _ in range(FACE_POINTS)]
    for number, corners in enumerate(triangles()[2 * len(mesh.OVAL) :]):
        for vertex in corners:
            around[vertex].append(number)
    widest = max(map(len, around))
    indices = np.array([fan + [0] * (widest - len(fan)) for fan in around], np.intp)
    weights = np.array([[1.0] * len(fan) + [0.0] * (widest - len(fan)) for fan in around], np.float32)
    return indices, weights[:, :, None]


def facing(points: Floats) -> Floats:
    """(504,) how much each vertex faces the camera, -1..1: 1 = straight. The skirt has the oval's values.

    Args:
        points: (504, 3) in picture axes, z smaller = nearer.
    """
    corners = triangles()[2 * len(mesh.OVAL) :]
    a, b, c = points[corners[:, 0]], points[corners[:, 1]], points[corners[:, 2]]
    normals = np.cross(b - a, c - a)
    indices, weights = _fans()
    summed = (normals[indices] * weights).sum(axis=1)
    towards = -summed[:, 2] / np.maximum(np.linalg.norm(summed, axis=1), 1e-9)
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
