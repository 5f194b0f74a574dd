"""The remembered look of a face, and what differs from it: something that has come in front."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.fields import dilated, gaussian, smoothstep
from mien.edit.raster import Floats
from mien.edit.regions import core, features, inside_oval
from mien.edit.skin import over_features
from mien.edit.topology import FIELD

_SEEN = (0.15, 0.25, 0.4)
"""How squarely a texel must be seen to be compared, to be remembered, and to tell the light."""
_KNOWN = 6
"""Frames a texel has to be seen before a change there means something."""
_ENOUGH = 50
"""Texels needed to tell the light."""
_SAME = (0.08, 0.04)
"""Differences of lightness and hue (logarithms), beyond last frame's light, up to which a texel tells this frame's."""
_FLASH = 0.15
"""If fewer than this part of the texels agree with last frame's light, the light itself has changed."""
_RIGID = np.diag(np.array([1e-3, 3, 3], np.float32))
"""Ridge of the light's fit: slopes need evidence."""
_TOLERANCE = (0.1, 0.05)
"""Differences of lightness and hue that every face shows, beyond its own spread."""
_SPREADS = 1.3
_CHANGED = (0.7, 1.2)
"""Difference over tolerance at which something begins to be, and is, in front."""
_LEARN, _LEARN_SPREAD = 0.06, 0.1
"""Shares of a new frame in the look and in its spread."""
_WIDEST_SPREAD = 0.3


class Comparison(NamedTuple):
    """A frame against the memory."""

    change: Floats
    """(FIELD, FIELD) 0..1: something is in front."""
    light: Floats
    """(FIELD, FIELD, 3) what light changed in lightness and hue."""


class RememberedLook:
    """What a face looks like, texel by texel, as lightness and hue (logarithms)."""

    def __init__(self) -> None:
        self._look = np.zeros((FIELD, FIELD, 3), np.float32)
        self._spread = np.full((FIELD, FIELD, 2), 0.05, np.float32)
        self._frames = np.zeros((FIELD, FIELD), np.float32)
        self._light = np.zeros((3, 3), np.float32)

    def compare(self, look: Floats, facing: Floats) -> Comparison:
        """Compare a frame, then learn from it.

        Args:
            look: (FIELD, FIELD, 3) lightness, two hues.
            facing: (FIELD, FIELD) how squarely each texel is seen, 0..1.
        """
        known = self._frames > _KNOWN
        sure = np.flatnonzero((core(FIELD) > 0) & known & (facing > _SEEN[2]))
        change = np.zeros((FIELD, FIELD), np.float32)
        light = np.zeros((FIELD, FIELD, 3), np.float32)
        difference = look - self._look
        if len(sure) > _ENOUGH:
            places, differences = (field.reshape(-1, 3).take(sure[::2], axis=0) for field in (_places(), difference))
            self._light = _fit_light(places, differences, self._light)
            light = _places() @ self._light
            rest = np.abs(difference - light)
            deviation = np.stack([rest[..., 0], np.maximum(rest[..., 1], rest[..., 2])], axis=-1)
            change = _in_front(deviation, self._spread, known & (facing > _SEEN[0]))
            learnt = _LEARN_SPREAD * (facing > _SEEN[1]) * (1 - change)
            self._spread += (np.minimum(deviation, _WIDEST_SPREAD) - self._spread) * learnt[..., None]
        share = (facing > _SEEN[1]) * np.maximum(np.float32(_LEARN), 1 / (1 + self._frames)) * (1 - change)
        self._look += (difference - light) * share[..., None]
        self._frames += (facing > _SEEN[1]) & (change < 0.5)
        return Comparison(change, light)


@cache
def _places() -> Floats:
    """(FIELD, FIELD, 3) one, u, v from the middle: the light may change as a slope over the face."""
    ramp = (np.arange(FIELD, dtype=np.float32) + 0.5) / FIELD - 0.5
    u, v = np.meshgrid(ramp, ramp)
    return np.stack([np.ones_like(u), u, v], axis=-1)


def _fit_light(places: Floats, differences: Floats, last: Floats) -> Floats:
    """(3, 3) the light's change as constant and slopes: the last one, moved by the texels that agree with it."""
    light = last
    for _ in range(2):
        rest = np.abs(differences - places @ light)
        agrees = (rest[:, 0] < _SAME[0]) & (rest[:, 1] < _SAME[1]) & (rest[:, 2] < _SAME[1])
        if agrees.mean() < _FLASH:
            light = np.zeros((3, 3), np.float32)
            light[0] = np.median(differences, axis=0)
            continue
        x, y = places.compress(agrees, axis=0), differences.compress(agrees, axis=0)
        light = np.linalg.solve(x.T @ x + _RIGID, x.T @ y).astype(np.float32)
    return light


def _in_front(deviation: Floats, spread: Floats, comparable: NDArray[np.bool_]) -> Floats:
    score = deviation / (np.array(_TOLERANCE, np.float32) + np.float32(_SPREADS) * spread)
    score = gaussian(np.maximum(score[..., 0], score[..., 1]), 1.0)
    change = smoothstep(*_CHANGED, score) * comparable * (inside_oval(FIELD) > 0.01) * (1 - features(FIELD))
    solid = cv2.morphologyEx((change > 0.4).astype(np.float32), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    change = over_features(change * dilated(cast(Floats, solid), 7))
    return cast(Floats, cv2.morphologyEx(change, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)))
