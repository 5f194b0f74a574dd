"""Smooth fields on small grids: blurs that know which cells count."""

from __future__ import annotations

import cv2
import numpy as np

from mien.edit.raster import Floats

_EMPTY = 1e-4
"""Total weight under which a neighbourhood holds nothing."""


def smoothstep(low: float, high: float, values: Floats) -> Floats:
    """0 below `low`, 1 above `high`, smooth between."""
    t = np.clip((values - low) * np.float32(1 / (high - low)), 0, 1)
    return t * t * (3 - 2 * t)


def blur(field: Floats, sigma: float) -> Floats:
    """Gaussian blur of a (h, w) or (h, w, c) field; `sigma` in cells. Wide ones are made on a smaller grid."""
    height, width = field.shape[:2]
    shrink = min(int(sigma / 2), min(height, width) // 4)
    if shrink < 2:
        return cv2.GaussianBlur(field, (0, 0), max(sigma, 0.1), borderType=cv2.BORDER_REPLICATE)
    small = cv2.resize(field, (-(-width // shrink), -(-height // shrink)), interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma / shrink, borderType=cv2.BORDER_REPLICATE)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)


def weighted_blur(field: Floats, weight: Floats, sigma: float, fallback: Floats | None = None) -> Floats:
    """Gaussian mean of the cells that count (normalised convolution).

    Args:
        field: (h, w, c).
        weight: (h, w) how much each cell counts, 0 or more.
        sigma: in cells.
        fallback: (h, w, c) or (c,) taken where nothing within reach counts; the weighted mean if None.
    """
    stacked = blur(np.concatenate([field * weight[..., None], weight[..., None]], axis=2), sigma)
    total = stacked[..., -1:]
    if fallback is None:
        fallback = (field * weight[..., None]).sum(axis=(0, 1)) / max(float(weight.sum()), _EMPTY)
    trust = np.clip(total / _EMPTY - 1, 0, 1)
    return stacked[..., :-1] / np.maximum(total, _EMPTY) * trust + fallback * (1 - trust)


def fill(field: Floats, weight: Floats) -> Floats:
    """The field with cells that do not count filled in smoothly from those that do (pull and push over scales)."""
    height, width = field.shape[:2]
    if min(height, width) <= 2 or weight.min() > 0.999:
        mean = (field * weight[..., None]).sum(axis=(0, 1)) / max(float(weight.sum()), _EMPTY)
        return field * weight[..., None] + mean * (1 - weight[..., None])
    stacked = cv2.pyrDown(np.concatenate([field * weight[..., None], weight[..., None]], axis=2))
    total = stacked[..., -1:]
    small = fill(stacked[..., :-1] / np.maximum(total, _EMPTY), np.clip(total[..., 0] * 2, 0, 1))
    return field * weight[..., None] + cv2.pyrUp(small, dstsize=(width, height)) * (1 - weight[..., None])
