"""The target's light on the source's skin: a gain made of bands, each handed over as wide as it is coarse.

Light multiplies linear colours, and so it does gamma coded ones up to a power; its logarithm is averaged, so that a
highlight counts no more than the skin around it.
"""

from __future__ import annotations

from typing import cast

import cv2
import numpy as np

from mien.edit.fields import blur, divided, halved, resize, smoothstep, weigh
from mien.edit.raster import Floats

FLOOR = 0.02
"""Added to gamma coded colours before their logarithm is taken."""
_BANDS = (0.4, 0.15, 0.08, 0.04)
"""Sigmas in face widths: the first is the target's everywhere, finer ones only near the edge."""
_LIMIT = 1.2
"""Largest logarithm of the gain (3.3 times as bright in gamma coded colours)."""
_TONE_HUE, _TONE_LIGHTNESS = 0.4, 0.15
"""How much of the difference in skin colour stays the source's, well inside the face."""
_TONE_REACH = 0.12
"""Sigma of the way from the edge to where the skin colour is the source's, in face widths."""
_COLOURLESS = 0.004
"""Mean difference of the channels, as a part of white, that compression leaves in a picture without colour."""
_NEAR = (0.35, 0.7)
"""Differences from the mean (logarithm) at which a cell begins to be left out, and is."""


def gain(target: Floats, drawn: Floats, trust: Floats, alpha: Floats, face_width: float) -> Floats:
    """Factor (rows, columns, 3) for the gamma coded colours that are drawn; found on a grid of half the resolution.

    Args:
        target: (rows, columns, 3) the target, RGB gamma coded.
        drawn: (rows, columns, 3) the source's texture in the same place.
        trust: (rows, columns) 0..1 where both show plain skin.
        alpha: (rows, columns) 0..1 how much of the source will be seen.
        face_width: in cells.
    """
    height, width = trust.shape
    target, drawn, trust, alpha = (halved(field) for field in (target, drawn, trust, alpha))
    face_width /= 2
    difference = log_colours(target) - log_colours(drawn)
    overall = _robust_mean(difference, trust)
    sums = weigh(difference, trust * _near(difference, overall) + np.float32(1e-6))
    coarse, *finer = (divided(blur(sums, sigma * face_width)) for sigma in _BANDS)
    result = coarse - (1 - _edge(alpha, _TONE_REACH * face_width)) * _tone(overall)
    last = coarse
    for sigma, band in zip(_BANDS[1:], finer, strict=True):
        result += (band - last) * _edge(alpha, sigma * face_width)
        last = band
    return resize(np.exp(np.clip(result, -_LIMIT, _LIMIT)), height, width)


def is_grey(picture: Floats) -> bool:
    """True for RGB without any colour: black and white film, a grey picture."""
    red, green, blue = cv2.split(picture)
    return max(float(cv2.mean(cv2.absdiff(one, green))[0]) for one in (red, blue)) < _COLOURLESS


def log_colours(picture: Floats) -> Floats:
    """Logarithm of gamma coded RGB."""
    return cast(Floats, cv2.log(np.maximum(picture, 0) + np.float32(FLOOR)))


def _tone(overall: Floats) -> Floats:
    """(3,) what of the overall difference is skin colour rather than light."""
    lightness = overall.mean()
    return (_TONE_HUE * (overall - lightness) + _TONE_LIGHTNESS * lightness).astype(np.float32)


def _robust_mean(difference: Floats, trust: Floats) -> Floats:
    """(3,) weighted mean, taken again without what is far from it."""
    counted = np.flatnonzero(trust > 0)
    values, weight = difference.reshape(-1, 3).take(counted, axis=0), trust.reshape(-1).take(counted)
    near = weight
    mean = np.zeros(3, np.float32)
    for _ in range(3):
        mean = (near @ values / max(float(near.sum()), 1e-3)).astype(np.float32)
        near = weight * _near(values, mean)
    return mean


def _near(difference: Floats, mean: Floats) -> Floats:
    """1 where every channel of a difference (..., 3) is near the mean."""
    farthest = np.abs(difference[..., 0] - mean[0])
    for channel in (1, 2):
        farthest = np.maximum(farthest, np.abs(difference[..., channel] - mean[channel]))
    return 1 - smoothstep(*_NEAR, farthest)


def _edge(alpha: Floats, sigma: float) -> Floats:
    """(rows, columns, 1) 1 at the edge of what is drawn, 0 farther inside than about two sigmas."""
    return np.clip(2 - 2 * blur(alpha, sigma), 0, 1)[..., None]
