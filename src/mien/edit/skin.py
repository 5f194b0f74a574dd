"""What is plain skin on the texture plane: a colour model learnt from the parts of a face that are surely skin."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from mien.edit.fields import blur, dilated, ellipse, gaussian, smoothstep
from mien.edit.raster import Floats
from mien.edit.regions import core, features, inside_oval

_FLOOR = 0.04
"""Added to gamma coded colours before logarithms and ratios: below it camera noise rules."""
_ROUNDS = 4
_LOWER = (0.52, 0.62)
"""v of the nose's tip and of the upper lip."""
_EYES = (0.27, 0.46)
"""v above and below which the frame of glasses does not reach."""
_LARGE = 0.015
"""Unlike skin and larger than this part of the texture plane = something that covers the face."""


class SkinModel(NamedTuple):
    """Plain skin of one face in one picture, in the logarithm of gamma coded RGB."""

    shading: Floats
    """(3,) lightness as a plane over the texture plane: constant, slope in u, slope in v."""
    lightness_spread: float
    """Robust standard deviation of lightness around that plane."""
    hue: Floats
    """(2,) log(R/G), log(B/G)."""
    hue_spread: Floats
    """(2,) robust standard deviations."""


def lightness_and_hue(texture: Floats) -> tuple[Floats, Floats]:
    """log of lightness (h, w) and log colour ratios (h, w, 2) of gamma coded RGB."""
    logs = np.log(np.maximum(texture, 0) + _FLOOR)
    lightness = logs @ np.asarray([0.3, 0.59, 0.11], np.float32)
    return lightness, np.stack([logs[..., 0] - logs[..., 1], logs[..., 2] - logs[..., 1]], axis=-1)


def learn_skin(texture: Floats, seen: Floats) -> SkinModel | None:
    """Fit the model on the sure parts; None if too little of them is seen.

    Args:
        texture: (side, side, 3) gamma coded RGB on the texture plane.
        seen: (side, side) 0..1.
    """
    side = texture.shape[0]
    sure = np.flatnonzero(core(side) * (seen > 0.3))
    if len(sure) < 0.02 * side * side:
        return None
    lightness, hue = lightness_and_hue(cv2.GaussianBlur(texture, (0, 0), side / 96))
    v, u = np.divmod(sure, side)
    basis = np.stack([np.ones(len(sure)), u / side - 0.5, v / side - 0.5], axis=1).astype(np.float32)
    values, hues = lightness.ravel()[sure], hue.reshape(-1, 2)[sure]
    trust = np.ones(len(sure), np.float32)
    shading, spread = np.zeros(3, np.float32), 1.0
    middle, hue_spread = np.median(hues, axis=0), np.ones(2, np.float32)
    for _ in range(_ROUNDS):
        weighted = basis * trust[:, None]
        shading = np.linalg.solve(weighted.T @ basis + 1e-3 * np.eye(3), weighted.T @ values).astype(np.float32)
        rest = values - basis @ shading
        kept = trust > 0.5
        spread = float(np.clip(1.48 * np.median(np.abs(rest[kept])), 0.06, 0.2))
        middle = np.median(hues[kept], axis=0)
        hue_spread = np.clip(1.48 * np.median(np.abs(hues[kept] - middle), axis=0), 0.03, 0.12)
        distance = (rest / spread) ** 2 + (((hues - middle) / hue_spread) ** 2).sum(axis=1)
        trust = (distance < 12).astype(np.float32)
        if trust.sum() < 0.2 * len(sure):
            break
    return SkinModel(shading, spread, middle.astype(np.float32), hue_spread.astype(np.float32))


def skin_likelihood(texture: Floats, model: SkinModel) -> Floats:
    """(side, side) 0..1: 1 = looks like the model's skin. Eyes, brows and lips are judged by what surrounds them."""
    side = texture.shape[0]
    lightness, hue = lightness_and_hue(cv2.GaussianBlur(texture, (0, 0), side / 128))
    places = (np.arange(side, dtype=np.float32) + 0.5) / side
    # The plane is only trusted as far as the sure parts reach.
    ramp = np.clip(places - 0.5, -0.3, 0.3)
    expected = model.shading[0] + model.shading[1] * ramp[None, :] + model.shading[2] * ramp[:, None]
    # Below the nose, dark is a shadow or a beard: part of the face.
    lower = smoothstep(*_LOWER, places)[:, None]
    darker = (1 - lower) * np.maximum(expected - lightness, 0) / (3.0 * model.lightness_spread)
    brighter = np.maximum(lightness - expected, 0) / (4.0 * model.lightness_spread)
    hues = np.abs(hue - model.hue) / (model.hue_spread * 3.5) / (1 + 0.3 * lower[..., None])
    distance = darker**2 + brighter**2 + (hues**2).sum(axis=-1)
    likelihood = np.exp(-0.7 * np.maximum(distance - 0.6, 0)).astype(np.float32)
    judged = (1 - features(side)) * (inside_oval(side) > -0.02)
    blur = side / 40
    spread_out = cv2.GaussianBlur(likelihood * judged, (0, 0), blur) / (cv2.GaussianBlur(judged, (0, 0), blur) + 1e-3)
    return likelihood * judged + np.clip(spread_out, 0, 1) * (1 - judged)


def covered(likelihood: Floats) -> Floats:
    """(side, side) 0..1: what covers the face, given how skin-like each texel is.

    Hair, hats and hands come in from the outline or are large; wrinkles and shadows are small and lie inside, the frame
    of glasses is thin. What
    lies farther out than a cover is taken as covered, too: highlights on hair look like skin.
    """
    side = likelihood.shape[0]
    unlike = (likelihood < 0.5).astype(np.uint8)
    unlike[inside_oval(side) < -0.02] = 0
    unlike[features(side) > 0.5] = 0
    thick = cv2.morphologyEx(unlike, cv2.MORPH_OPEN, ellipse(2 * (side // 26) + 1))
    unlike = cv2.morphologyEx(unlike, cv2.MORPH_OPEN, ellipse(2 * (side // 64) + 1))
    # At the height of the eyes the frame of glasses is no cover either.
    first, last = (int(v * side) for v in _EYES)
    unlike[first:last] = thick[first:last]
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(unlike, connectivity=4)
    on_rim = np.bincount(labels[(inside_oval(side) < 0.03) & (unlike > 0)], minlength=count) > 0
    large = statistics[:, cv2.CC_STAT_AREA] > _LARGE * side * side
    kept = on_rim | large
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
    """A 0 or 1 mask, spread away from the middle of the face."""
    side = mask.shape[0]
    centre = ((side - 1) / 2, (side - 1) / 2)
    flags = cv2.WARP_POLAR_LINEAR | cv2.INTER_LINEAR
    polar = cv2.warpPolar(mask, (side, 4 * side), centre, 0.75 * side, flags)
    spread = np.maximum.accumulate((polar > 0.5).astype(np.float32), axis=1)
    back = cv2.warpPolar(spread, (side, side), centre, 0.75 * side, flags | cv2.WARP_INVERSE_MAP)
    return np.maximum(mask, (back > 0.5).astype(np.float32))
