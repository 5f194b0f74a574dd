"""What is plain skin on the texture plane: a colour model learnt from the parts of a face that are surely skin.

Colours are compared as a *look*: (side, side, 3) logarithm of lightness, log(R/G), log(B/G) of gamma coded RGB.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.fields import blur, dilated, ellipse, gaussian, smoothstep
from mien.edit.raster import Floats
from mien.edit.regions import core, features, inside_oval

_FLOOR = 0.04
"""Added to gamma coded colours before logarithms are taken: below it camera noise rules."""
_LIGHTNESS = np.array([0.3, 0.59, 0.11], np.float32)
_ROUNDS = 4
_LIGHTNESS_SPREAD, _HUE_SPREAD = (0.06, 0.2), (0.03, 0.12)
"""Least and largest spreads of a model."""
_OUTLIER = 12.0
"""Squared distance, in spreads, from which on a texel is no skin to learn from."""
_DARKER, _BRIGHTER, _OTHER_HUE = 3.0, 4.0, 3.5
"""Differences, in spreads, that count as one: hair is much darker than skin, or of another hue."""
_LOWER = (0.52, 0.62)
"""v of the nose's tip and of the upper lip."""
_EYES = (0.27, 0.46)
"""v above and below which the frame of glasses does not reach."""
_LARGE = 0.015
"""Unlike skin and larger than this part of the texture plane = something that covers the face."""


class SkinModel(NamedTuple):
    """Plain skin of one face in one picture."""

    shading: Floats
    """(3,) lightness as a plane over the texture plane: constant, slope in u, slope in v."""
    lightness_spread: float
    """Robust standard deviation of lightness around that plane."""
    hue: Floats
    """(2,)"""
    hue_spread: Floats
    """(2,) robust standard deviations."""


def look_of(texture: Floats) -> Floats:
    """The look (side, side, 3) of gamma coded RGB, freed of noise."""
    logs = np.log(np.maximum(gaussian(texture, texture.shape[0] / 110), 0) + np.float32(_FLOOR))
    red, green, blue = (cast(Floats, one) for one in cv2.split(logs))
    return cast(Floats, cv2.merge([logs @ _LIGHTNESS, red - green, blue - green]))


def learn_skin(look: Floats, seen: Floats) -> SkinModel | None:
    """Fit the model on the sure parts; None if too little of them is seen.

    Args:
        look: (side, side, 3), see `look_of`.
        seen: (side, side) 0..1.
    """
    side = look.shape[0]
    sure = np.flatnonzero(core(side) * (seen > 0.3))
    if len(sure) < 0.02 * side * side:
        return None
    v, u = np.divmod(sure, side)
    basis = np.stack([np.ones(len(sure)), u / side - 0.5, v / side - 0.5], axis=1).astype(np.float32)
    texels = look.reshape(-1, 3)[sure]
    model = _fit(basis, texels, np.ones(len(sure), np.bool_))
    for _ in range(_ROUNDS - 1):
        hues = ((texels[:, 1:] - model.hue) / model.hue_spread) ** 2
        distance = ((texels[:, 0] - basis @ model.shading) / model.lightness_spread) ** 2 + hues.sum(axis=1)
        kept = distance < _OUTLIER
        if np.count_nonzero(kept) < 0.2 * len(sure):
            break
        model = _fit(basis, texels, kept)
    return model


def _fit(basis: Floats, texels: Floats, kept: NDArray[np.bool_]) -> SkinModel:
    basis, lightness, hues = basis[kept], texels[kept, 0], texels[kept, 1:]
    shading = np.linalg.solve(basis.T @ basis + 1e-3 * np.eye(3), basis.T @ lightness).astype(np.float32)
    hue = np.median(hues, axis=0)
    # The median of absolute deviations, scaled to a standard deviation.
    spread = 1.48 * np.median(np.abs(lightness - basis @ shading))
    hue_spread = 1.48 * np.median(np.abs(hues - hue), axis=0)
    return SkinModel(
        shading, float(np.clip(spread, *_LIGHTNESS_SPREAD)), hue, np.clip(hue_spread, *_HUE_SPREAD).astype(np.float32)
    )


def skin_likelihood(look: Floats, model: SkinModel) -> Floats:
    """(side, side) 0..1: 1 = looks like the model's skin. Eyes, brows and lips look like what surrounds them."""
    side = look.shape[0]
    places = (np.arange(side, dtype=np.float32) + 0.5) / side
    # The plane is only trusted as far as the sure parts reach.
    ramp = np.clip(places - 0.5, -0.3, 0.3)
    expected = model.shading[0] + model.shading[1] * ramp[None, :] + model.shading[2] * ramp[:, None]
    # Below the nose, dark is a shadow or a beard: part of the face.
    lower = smoothstep(*_LOWER, places)[:, None]
    brighter = (look[..., 0] - expected) / np.float32(model.lightness_spread)
    distance = np.where(brighter > 0, brighter / _BRIGHTER, brighter * (1 - lower) / _DARKER) ** 2
    for channel in (0, 1):
        off = (look[..., 1 + channel] - model.hue[channel]) / (_OTHER_HUE * model.hue_spread[channel])
        distance += (off / (1 + 0.3 * lower)) ** 2
    likelihood = np.exp(-0.7 * np.maximum(distance - 0.6, 0)).astype(np.float32)
    plain = (1 - features(side)) * (inside_oval(side) > -0.02)
    around = gaussian(likelihood * plain, side / 40) / (gaussian(plain, side / 40) + np.float32(1e-3))
    return likelihood * plain + np.clip(around, 0, 1) * (1 - plain)


def covered(likelihood: Floats) -> Floats:
    """(side, side) 0..1: what covers the face, given how skin-like each texel is.

    Hair, hats and hands come in from the outline or are large; wrinkles and shadows are small and lie inside, the
    frame of glasses is thin. What lies farther out than a cover is taken as covered, too: highlights on hair look
    like skin.
    """
    side = likelihood.shape[0]
    unlike = (likelihood < 0.5).astype(np.uint8)
    unlike[inside_oval(side) < -0.02] = 0
    unlike[features(side) > 0.5] = 0
    thick = cv2.morphologyEx(unlike, cv2.MORPH_OPEN, ellipse(2 * (side // 26) + 1))
    unlike = cv2.morphologyEx(unlike, cv2.MORPH_OPEN, ellipse(2 * (side // 64) + 1))
    first, last = (int(v * side) for v in _EYES)
    unlike[first:last] = thick[first:last]
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(unlike, connectivity=4)
    on_rim = np.bincount(labels[(inside_oval(side) < 0.03) & (unlike > 0)], minlength=count) > 0
    kept = on_rim | (statistics[:, cv2.CC_STAT_AREA] > _LARGE * side * side)
    kept[0] = False
    mask = _outwards(kept[labels].astype(np.float32))
    return over_features(gaussian(dilated(mask, 3), side / 160))


def over_features(cover: Floats) -> Floats:
    """A cover that cannot be told on eyes, brows and mouth, told there by what surrounds them."""
    side = cover.shape[0]
    plain = 1 - features(side)
    around = blur(cover * plain, side / 24) / (blur(plain, side / 24) + np.float32(1e-3))
    return cover * plain + features(side) * smoothstep(0.5, 0.8, around)


def _outwards(mask: Floats) -> Floats:
    """A mask of 0 and 1, spread away from the middle of the face."""
    side = mask.shape[0]
    centre = ((side - 1) / 2, (side - 1) / 2)
    flags = cv2.WARP_POLAR_LINEAR | cv2.INTER_LINEAR
    polar = cv2.warpPolar(mask, (side, 4 * side), centre, 0.75 * side, flags)
    spread = np.maximum.accumulate((polar > 0.5).astype(np.float32), axis=1)
    back = cv2.warpPolar(spread, (side, side), centre, 0.75 * side, flags | cv2.WARP_INVERSE_MAP)
    return np.maximum(mask, (back > 0.5).astype(np.float32))
