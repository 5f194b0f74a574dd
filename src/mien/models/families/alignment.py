"""Aligned crops: the similarity that brings five points onto a template, and the warp along it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.models.families.templates import Template

Matrix = NDArray[np.float64]
"""(2, 3) from picture to crop."""


def align(points: NDArray[Any], template: Template, size: int) -> Matrix:
    """The similarity that brings five points nearest to a template, in least squares.

    Args:
        points: (n, 2) in the picture, n >= 2.
        template: (n, 2) fractions of the crop's side.
        size: The crop's side, pixels.
    """
    # As complex numbers a similarity is `turn * z + shift`: one linear equation in two unknowns.
    start = points[:, 0].astype(np.float64) + 1j * points[:, 1]
    goal = (template[:, 0] + 1j * template[:, 1]) * size
    centred = start - start.mean()
    turn = np.vdot(centred, goal - goal.mean()) / max(np.vdot(centred, centred).real, 1e-12)
    shift = goal.mean() - turn * start.mean()
    return np.array([[turn.real, -turn.imag, shift.real], [turn.imag, turn.real, shift.imag]])


def invert(matrix: Matrix) -> Matrix:
    """The way back."""
    return cast(Matrix, cv2.invertAffineTransform(matrix))


def move(points: NDArray[Any], matrix: Matrix) -> NDArray[np.float64]:
    """Points (n, 2) on the other side of a matrix."""
    return points @ matrix[:, :2].T + matrix[:, 2]


def cut(image: NDArray[Any], matrix: Matrix, size: int) -> NDArray[Any]:
    """The crop (size, size, ...) of a picture, bilinear; outside the picture its edge is repeated."""
    crop = cv2.warpAffine(image, matrix, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return cast(NDArray[Any], crop)


def cut_faces(
    image: NDArray[Any], faces: Sequence[NDArray[Any]], template: Template, size: int
) -> tuple[NDArray[Any], list[Matrix]]:
    """Aligned crops of several faces of one picture.

    Args:
        image: RGB (height, width, 3).
        faces: (5, 2) points of each face.
        template: Where they are to lie.
        size: Side of the crops, pixels.

    Returns:
        crops: (n, size, size, 3) of the picture's type.
        matrices: from picture to crop, for `paste`.
    """
    matrices = [align(points, template, size) for points in faces]
    crops = np.empty((len(matrices), size, size, 3), image.dtype)
    for crop, matrix in zip(crops, matrices, strict=True):
        crop[:] = cut(image, matrix, size)
    return crops, matrices
