"""Smooth fields on small grids: blurs that know which cells count, and OpenCV's resampling with plain types."""

from __future__ import annotations

from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.raster import Floats

_EMPTY = 1e-4
"""Total weight under which a neighbourhood holds nothing."""


def resize(field: Floats, height: int, width: int) -> Floats:
    """(height, width[, c]): linear where it grows, averaged over areas where it shrinks."""
    shrinks = height < field.shape[0] and width < field.shape[1]
    how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return cast(Floats, cv2.resize(field, (width, height), interpolation=how))


def halved(field: Floats) -> Floats:
    """The field at half its resolution, averaged over areas."""
    return resize(field, -(-field.shape[0] // 2), -(-field.shape[1] // 2))


def look_up(field: Floats, x: Floats, y: Floats) -> Floats:
    """The field at x, y (cells; the first cell's centre is 0, 0); beyond the rim the rim's values."""
    return cast(Floats, cv2.remap(field, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))


def as_rgba(field: Floats) -> Floats:
    """(h, w) or (h, w, 3) with four channels, the last one of no meaning.

    OpenCV resamples four channels with vector instructions, and three, one by one, at a third of the speed.
    """
    code = cv2.COLOR_GRAY2RGBA if field.ndim == 2 else cv2.COLOR_RGB2RGBA
    return cast(Floats, cv2.cvtColor(field, code))


def as_rgb(field: Floats) -> Floats:
    """The first three of four channels."""
    return cast(Floats, cv2.cvtColor(field, cv2.COLOR_RGBA2RGB))


def smoothstep(low: float, high: float, values: Floats) -> Floats:
    """0 below `low`, 1 above `high`, smooth between."""
    t = np.clip((values - np.float32(low)) * np.float32(1 / (high - low)), 0, 1)
    return t * t * (3 - 2 * t)


def gaussian(field: Floats, sigma: float) -> Floats:
    """Gaussian blur of a small (h, w[, c]) field; `sigma` in cells."""
    return cast(Floats, cv2.GaussianBlur(field, (0, 0), max(sigma, 0.1), borderType=cv2.BORDER_REPLICATE))


def blur(field: Floats, sigma: float) -> Floats:
    """As `gaussian`, but wide blurs are made on a smaller grid."""
    height, width = field.shape[:2]
    shrink = min(int(sigma / 2), min(height, width) // 4)
    if shrink < 2:
        return gaussian(field, sigma)
    small = gaussian(resize(field, -(-height // shrink), -(-width // shrink)), sigma / shrink)
    return resize(small, height, width)


def weighted_blur(field: Floats, weight: Floats, sigma: float) -> Floats:
    """Gaussian mean of the cells that count (normalised convolution); the overall mean where none is near.

    Args:
        field: (h, w, 3).
        weight: (h, w) how much each cell counts, 0 or more.
        sigma: in cells.
    """
    return divided(blur(weigh(field, weight), sigma))


def weigh(field: Floats, weight: Floats) -> Floats:
    """(h, w, 4) the field (h, w, 3) times its weight, and the weight: blurred, then `divided`, it is a mean."""
    return cast(Floats, cv2.merge([*(channel * weight for channel in cv2.split(field)), weight]))


def divided(sums: Floats) -> Floats:
    """(h, w, 3) the means of sums (h, w, 4) made by `weigh`."""
    *channels, total = cv2.split(sums)
    overall = max(float(total.sum()), 1e-12)
    # A trace of the overall mean decides where nothing else does.
    inverse = 1 / (total + np.float32(_EMPTY))
    return cast(
        Floats,
        cv2.merge([(one + np.float32(_EMPTY * float(one.sum()) / overall)) * inverse for one in channels]),
    )


def fill(field: Floats, weight: Floats) -> Floats:
    """The field with cells that do not count filled in smoothly from those that do (pull and push over scales)."""
    height, width = field.shape[:2]
    share = weight[..., None]
    if min(height, width) <= 2 or weight.min() > 0.999:
        mean = (field * share).sum(axis=(0, 1)) / max(float(weight.sum()), _EMPTY)
        return field * share + mean.astype(np.float32) * (1 - share)
    stacked = cast(Floats, cv2.pyrDown(np.concatenate([field * share, share], axis=2)))
    total = stacked[..., -1:]
    small = fill(stacked[..., :-1] / np.maximum(total, _EMPTY), np.clip(total[..., 0] * 2, 0, 1))
    return field * share + cast(Floats, cv2.pyrUp(small, dstsize=(width, height))) * (1 - share)


def dilated(mask: Floats, side: int) -> Floats:
    """Each cell's largest value within a square of `side` cells."""
    return cast(Floats, cv2.dilate(mask, np.ones((side, side), np.uint8)))


def ellipse(side: int) -> NDArray[np.uint8]:
    """Round structuring element of odd `side`."""
    return cast(NDArray[np.uint8], cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)))
