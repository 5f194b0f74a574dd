"""Crops put back into the picture, on the rectangle that they cover."""

from __future__ import annotations

import math
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.geometry import Rect
from mien.models.families.alignment import Matrix, invert, move

Floats = NDArray[np.float32]


def footprint(matrix: Matrix, size: int, width: int, height: int) -> Rect | None:
    """The rectangle of a picture of `width` x `height` pixels that a crop of `size` pixels covers; None outside it."""
    corners = move(np.array([[0, 0], [size, 0], [size, size], [0, size]]), invert(matrix))
    left, top = (math.floor(value) for value in corners.min(axis=0))
    right, bottom = (math.ceil(value) for value in corners.max(axis=0))
    return Rect(left, top, max(right - left, 1), max(bottom - top, 1)).clip(width, height)


def paste(
    patch: Floats, rect: Rect, crop: NDArray[Any], mask: Floats, matrix: Matrix, *, before: NDArray[Any] | None = None
) -> Floats:
    """The patch with an edited crop in it; pixels that the mask leaves out stay as they are, bit for bit.

    Args:
        patch: (height, width, 3) of `rect`, RGB in the unit of `crop`.
        rect: Where the patch lies in the picture.
        crop: (size, size, 3) the edited crop.
        mask: (size, size) 0..1.
        matrix: From picture to crop.
        before: The crop as it was cut. If given, only what changed since is added: detail of the picture that is finer
            than the crop stays, and an edit that changes nothing leaves the picture untouched. For edits that keep the
            face (restoring, expression), not for a new one.
    """
    to_patch = invert(matrix)
    to_patch[:, 2] -= rect.x, rect.y
    opacity = np.clip(_warped(mask, to_patch, patch, cv2.BORDER_CONSTANT), 0, 1)
    if before is None:
        change = _warped(crop, to_patch, patch, cv2.BORDER_REPLICATE)
        change -= patch
    else:
        change = _warped(crop - before, to_patch, patch, cv2.BORDER_REPLICATE)
    change *= cast(Floats, cv2.merge([opacity, opacity, opacity]))
    change += patch
    return change


def _warped(crop: NDArray[Any], matrix: Matrix, patch: Floats, border: int) -> Floats:
    """One channel or three, on the patch."""
    height, width = patch.shape[:2]
    source = crop.astype(np.float32, copy=False)
    if source.ndim == 3:
        source = cv2.cvtColor(source, cv2.COLOR_RGB2RGBA)  # Four channels are warped in half the time of three.
    warped = cv2.warpAffine(source, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=border)
    return cast(Floats, warped if source.ndim == 2 else cv2.cvtColor(warped, cv2.COLOR_RGBA2RGB))
