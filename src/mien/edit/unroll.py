"""A face picture unrolled onto the texture plane, and how well each texel is seen."""

from __future__ import annotations

from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Floats, draw_triangles
from mien.edit.topology import FIELD, add_skirt, facing, signed_areas, to_grid, triangles

_DEPTH_SLACK = 0.075
"""How far behind the nearest surface a point still counts as seen, in face widths."""


def unroll(picture: NDArray[np.uint8], points: Floats, side: int) -> Floats:
    """The picture on the texture plane: (side, side, 3) RGB 0..1, black where the face does not reach.

    Args:
        picture: (height, width, 3) RGB.
        points: (468, 3) in pixels; the first pixel's centre is at 0, 0.
        side: Texels a side.
    """
    positions = to_grid(add_skirt(points[:, :2]), side, outside=-1e4)
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


def visibility(points: Floats, shape: tuple[int, int], side: int = FIELD) -> Floats:
    """(side, side) how squarely each texel faces the camera, 0..1; hidden and cut off parts are 0.

    Args:
        points: (468, 3) in pixels of the picture.
        shape: Height, width of the picture.
        side: Cells a side.
    """
    whole = add_skirt(points)
    field = to_grid(np.concatenate([whole, facing(whole)[:, None]], axis=1), side)
    height, width = shape
    x, y = field[..., 0], field[..., 1]
    inside = (x >= 0) & (y >= 0) & (x <= width - 1) & (y <= height - 1)
    return np.clip(field[..., 3], 0, 1) * _unhidden(whole, field[..., :3]) * inside


def _unhidden(points: Floats, field: Floats) -> Floats:
    """1 where no nearer part of the face lies in front: a depth buffer of about FIELD cells, compared per texel."""
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    scale = FIELD / float((high - low).max())
    flat = ((points[:, :2] - low) * scale).astype(np.float32)
    columns, rows = (int(n) + 2 for n in np.ceil(flat.max(axis=0)))
    depth = np.full((rows, columns, 1), np.float32(1e6))
    draw_triangles(flat, draw_order(points), points[:, 2:], depth)
    nearest = cv2.erode(depth[..., 0], np.ones((3, 3), np.uint8))
    at = ((field[..., :2] - low) * scale).astype(np.float32)
    front = cast(Floats, cv2.remap(nearest, at[..., 0], at[..., 1], cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE))
    return (field[..., 2] - front < _DEPTH_SLACK * float(np.ptp(points[:, 0]))).astype(np.float32)
