"""A face picture unrolled onto the texture plane, and what of it can be seen."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Floats, rasterise
from mien.edit.topology import FIELD, add_skirt, facing, signed_areas, to_grid, triangles

_DEPTH_SLACK = 0.075
"""How far behind the nearest surface a point still counts as seen, in face widths."""


def unroll(picture: NDArray[np.uint8], landmarks: Floats, side: int) -> Floats:
    """The picture on the texture plane: (side, side, 3) RGB 0..1, black where the face does not reach.

    Args:
        picture: (height, width, 3) RGB.
        landmarks: (478 or 468, 3) in pixels of the picture.
        side: texels a side.
    """
    positions = to_grid(add_skirt(landmarks[:468, :2]), side, outside=-1e4)
    texture = cv2.remap(picture, positions[..., 0], positions[..., 1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT)
    return texture.astype(np.float32) / 255


def draw_order(points: Floats) -> NDArray[np.intp]:
    """Triangles (k, 3) that face the camera, farthest first.

    Args:
        points: (504, 3) in picture axes, z smaller = nearer.
    """
    every = triangles()
    shown = every[signed_areas(points, every) < 0]
    depth = points[:, 2][shown].sum(axis=1)
    return shown[np.argsort(-depth, kind="stable")]


def visibility(landmarks: Floats, shape: tuple[int, int], side: int = FIELD) -> Floats:
    """(side, side) how squarely each texel faces the camera, 0..1; hidden and cut off parts are 0.

    Args:
        landmarks: (478 or 468, 3) in pixels of the picture.
        shape: height, width of the picture.
        side: cells a side.
    """
    points = add_skirt(landmarks[:468])
    field = to_grid(np.concatenate([points, facing(points)[:, None]], axis=1), side)
    return np.clip(field[..., 3], 0, 1) * _unhidden(points, field[..., :3]) * _in_picture(field[..., :2], shape)


def _unhidden(points: Floats, field: Floats) -> Floats:
    """1 where no nearer part of the face lies in front: a depth buffer of about FIELD cells, compared per texel."""
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    scale = FIELD / float((high - low).max())
    flat = (points[:, :2] - low) * scale
    rows, columns = (int(n) + 2 for n in np.ceil(flat.max(axis=0))[::-1])
    coverage = rasterise(flat.astype(np.float32), draw_order(points), rows, columns)
    depth = np.full(rows * columns, np.float32(1e6))
    depth[coverage.cells] = coverage.lift(points[:, 2:])[:, 0]
    nearest = cv2.erode(depth.reshape(rows, columns), np.ones((3, 3), np.uint8))
    at = ((field[..., :2] - low) * scale).astype(np.float32)
    front = cv2.remap(nearest, at[..., 0], at[..., 1], cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
    return (field[..., 2] - front < _DEPTH_SLACK * float(np.ptp(points[:, 0]))).astype(np.float32)


def _in_picture(positions: Floats, shape: tuple[int, int]) -> Floats:
    height, width = shape
    x, y = positions[..., 0], positions[..., 1]
    return ((x >= 0) & (y >= 0) & (x <= width - 1) & (y <= height - 1)).astype(np.float32)
