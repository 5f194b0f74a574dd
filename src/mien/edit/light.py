"""The target's light on the source's skin: a gain made of bands, each handed over as wide as it is coarse.

Light multiplies linear colours, and so it does gamma coded ones up to a power; its logarithm is averaged, so that a
highlight counts no more than the skin around it.
"""

from __future__ import annotations

import numpy as np

from mien.edit.fields import smoothstep, weighted_blur
from mien.edit.raster import Floats

FLOOR = 0.02
"""Added to gamma coded colours before their logarithm is taken."""
_BANDS = (0.25, 0.12, 0.08, 0.05)
"""Sigmas in face widths: the first is the target's everywhere, finer ones only near the edge."""
_LIMIT = 1.2
"""Largest logarithm of the gain (3.3 times as bright in gamma coded colours)."""
TONE_HUE, TONE_LIGHTNESS = 0.35, 0.15
"""How much of the difference in skin colour stays the source's, well inside the face."""


def log_colours(picture: Floats) -> Floats:
    """Logarithm of gamma coded RGB."""
    return np.log(np.maximum(picture, 0) + FLOOR)


def gain(target: Floats, drawn: Floats, trust: Floats, alpha: Floats, face_width: float) -> Floats:
    """Factor (rows, columns, 3) for the gamma coded colours that are drawn.

    Args:
        target: (rows, columns, 3) the target, RGB gamma coded.
        drawn: (rows, columns, 3) the source's texture in the same place.
        trust: (rows, columns) 0..1 where both show plain skin.
        alpha: (rows, columns) 0..1 how much of the source will be seen.
        face_width: in cells.
    """
    difference = log_colours(target) - log_colours(drawn)
    overall = _robust_mean(difference, trust)
    trust = trust * _near(difference - overall)
    coarse, *finer = (weighted_blur(difference, trust + 1e-6, sigma * face_width) for sigma in _BANDS)
    result = coarse - _tone(overall) * (1 - _edge(alpha, 0.12 * face_width))
    last = coarse
    for sigma, band in zip(_BANDS[1:], finer, strict=True):
        result += (band - last) * _edge(alpha, sigma * face_width)
        last = band
    return np.exp(np.clip(result, -_LIMIT, _LIMIT)).astype(np.float32)


def _tone(overall: Floats) -> Floats:
    """(3,) what of the overall difference is skin colour rather than light."""
    lightness = overall.mean()
    return TONE_HUE * (overall - lightness) + TONE_LIGHTNESS * lightness


def _robust_mean(difference: Floats, trust: Floats) -> Floats:
    """(3,) weighted mean, taken again without what is far from it."""
    total = max(float(trust.sum()), 1e-6)
    mean = (difference * trust[..., None]).sum(axis=(0, 1)) / total
    for _ in range(2):
        near = trust * _near(difference - mean)
        mean = (difference * near[..., None]).sum(axis=(0, 1)) / max(float(near.sum()), 1e-6)
    return mean.astype(np.float32)


def _near(difference: Floats) -> Floats:
    return 1 - smoothstep(0.35, 0.7, np.abs(difference).max(axis=-1))


def _edge(alpha: Floats, sigma: float) -> Floats:
    """(rows, columns, 1) 1 at the edge of what is drawn, 0 farther inside than about two sigmas."""
    from mien.edit.fields import blur

    return np.clip(2 * (1 - blur(alpha, sigma)), 0, 1)[..., None]
