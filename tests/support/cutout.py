"""Part a person from the background, and continue both beyond the picture's edges."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

_FALL, _RISE = 1.1, 0.5
"""Slope of a shoulder beyond the picture's edge and within, rows a column."""


def refine(picture: NDArray[np.uint8], person: NDArray[np.floating]) -> NDArray[np.float32]:
    """Coverage (height, width) 0..1 whose edge follows the picture's.

    A guided filter (He et al. 2010), then contrast.
    """
    guide = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    target = person.astype(np.float32)
    side = 2 * max(4, len(picture) // 64) + 1

    def mean(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return cv2.boxFilter(values, -1, (side, side))

    slope = (mean(guide * target) - mean(guide) * mean(target)) / (mean(guide**2) - mean(guide) ** 2 + 1e-3)
    fitted = mean(slope) * guide + mean(mean(target) - slope * mean(guide))
    coverage = np.clip((fitted - 0.5) / 0.4 + 0.5, 0, 1)
    coverage[0] = 0
    return coverage


def fill_face(
    picture: NDArray[np.uint8], coverage: NDArray[np.float32], triangles: NDArray[np.floating]
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Picture and coverage with skin wherever the face's triangles (n, 3, 2) hold background.

    The far side of a face in three-quarter view is a guess that reaches beyond what is to be seen; turned towards the
    camera it would show what was behind.
    """
    inside = np.zeros(coverage.shape, np.uint8)
    for triangle in np.round(triangles).astype(np.int32):
        cv2.fillConvexPoly(inside, triangle, 1)
    inside = cv2.dilate(inside, np.ones((5, 5)))
    background = (cv2.erode(coverage, np.ones((9, 9))) < 0.95).astype(np.uint8)
    reach = len(picture) // 12  # the background around is unknown as well, so that skin alone flows in
    hole = background * cv2.dilate(inside, np.ones((reach, reach)))
    skin = cv2.inpaint(picture, hole, 3, cv2.INPAINT_TELEA)
    filled = np.where((inside * background)[..., None] > 0, skin, picture)
    return filled, np.maximum(coverage, cv2.GaussianBlur(inside.astype(np.float32), (0, 0), 1))


def widen(cut: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], int]:
    """Continue the shoulders sideways, falling. Returns the wider picture and the columns added on either side.

    The strip along the edge is mirrored to and fro, so that cloth goes on as cloth.
    """
    height, width = cut.shape[:2]
    margin = height // 2
    strip = max(4, width // 16)
    x = np.arange(-margin, width + margin, dtype=np.float32)
    beyond = np.maximum(np.maximum(-x, x - (width - 1)), 0)
    inside = strip - np.abs(beyond % (2 * strip) - strip)
    columns = np.where(x < 0, inside, np.where(x > width - 1, width - 1 - inside, x))
    rows = np.arange(height, dtype=np.float32)[:, None] - _FALL * beyond
    cloth = _sample(cut, columns, rows - _RISE * inside, cv2.BORDER_REPLICATE)
    outline = _sample(cut[..., 3], np.clip(x, 2, width - 3), rows, cv2.BORDER_CONSTANT)
    cloth[..., 3] = np.where(beyond > 0, outline, cloth[..., 3])
    return cloth, margin


def _sample(
    picture: NDArray[np.uint8], columns: NDArray[np.float32], rows: NDArray[np.float32], border: int
) -> NDArray[np.uint8]:
    columns = np.broadcast_to(columns, rows.shape)
    return cv2.remap(picture, columns.astype(np.float32), rows.astype(np.float32), cv2.INTER_LINEAR, borderMode=border)


def plate(picture: NDArray[np.uint8], coverage: NDArray[np.float32], margin: int) -> NDArray[np.uint8]:
    """The background (height, width + 2 margin, 3): where the person was it is filled in, out of focus."""
    reach = 2 * max(2, len(picture) // 100) + 1
    hidden = cv2.dilate(coverage, np.ones((2 * reach, 2 * reach)))
    small_size = (96, max(1, 96 * len(picture) // picture.shape[1]))
    small = cv2.resize(picture, small_size, interpolation=cv2.INTER_AREA)
    hole = (cv2.resize(hidden, small_size, interpolation=cv2.INTER_AREA) > 0.02).astype(np.uint8)
    filled = cv2.GaussianBlur(cv2.inpaint(small, hole, 3, cv2.INPAINT_TELEA), (0, 0), 1.5)
    soft = cv2.resize(filled, picture.shape[1::-1], interpolation=cv2.INTER_CUBIC)
    blend = cv2.GaussianBlur(hidden, (0, 0), reach / 3)
    whole = cv2.blendLinear(soft, picture, blend, 1 - blend)
    return cv2.copyMakeBorder(whole, 0, 0, margin, margin, cv2.BORDER_REFLECT_101)
