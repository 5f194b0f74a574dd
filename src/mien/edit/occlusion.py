"""What lies over the target's face: hair, hats, hands, a microphone; seen on the texture plane, remembered per track."""

from __future__ import annotations

import cv2
import numpy as np

from mien.edit.fields import dilated, gaussian, smoothstep
from mien.edit.raster import Floats
from mien.edit.regions import core, features, inside_oval
from mien.edit.skin import SkinModel, covered, learn_skin, lightness_and_hue, over_features, skin_likelihood
from mien.edit.topology import FIELD

_JUDGED = (0.2, 0.4)
"""How squarely a texel must be seen to begin to be, and to be, judged: towards the outline, other things show through."""
_RELEARN = 16
"""Frames between two fits of the skin model."""
_SETTLE = 0.25
"""Share of a new judgement by colour in the remembered one."""
_REJUDGE = 3
"""Frames between two judgements by colour: hair and hats stay where they are on a face."""
_RECEDE = 0.6
"""What is left of a cover one frame after it is gone; new ones count at once."""
_LEARN = 0.06
"""Share of a new frame in the remembered look of a face."""
_KNOWN = 6
"""Frames a part of the face has to be seen before a change there means something lies over it."""
_CHANGE_HUE, _CHANGE_LIGHTNESS = (0.14, 0.28), (0.4, 0.75)
"""Changes of look (logarithms) at which something begins to be, and is, in front."""


class FaceCover:
    """What covers one tracked face, frame after frame."""

    def __init__(self) -> None:
        self._age = 0
        self._model: SkinModel | None = None
        self._unlike = np.zeros((FIELD, FIELD), np.float32)
        self._cover = np.zeros((FIELD, FIELD), np.float32)
        self._look = np.zeros((FIELD, FIELD, 3), np.float32)
        self._seen = np.zeros((FIELD, FIELD), np.float32)

    def update(self, texture: Floats, facing: Floats) -> Floats:
        """Take in a frame.

        Args:
            texture: (FIELD, FIELD, 3) the target on the texture plane, gamma coded RGB.
            facing: (FIELD, FIELD) how squarely it is seen there, 0..1.

        Returns:
            (FIELD, FIELD) 0..1 how much each texel is covered.
        """
        if self._age % _RELEARN == 0:
            self._model = learn_skin(texture, facing) or self._model
        if self._age % _REJUDGE == 0 and self._model is not None:
            likelihood = skin_likelihood(texture, self._model)
            judged = smoothstep(*_JUDGED, facing)
            now = covered(1 - judged * (1 - likelihood))
            self._unlike += (now - self._unlike) * np.float32(_SETTLE if self._age else 1)
        self._age += 1
        cover = np.maximum(self._changed(texture, facing), self._unlike)
        self._cover = np.maximum(cover, self._cover * np.float32(_RECEDE))
        return self._cover

    def _changed(self, texture: Floats, facing: Floats) -> Floats:
        """What looks different from what was there before, the light set aside; and remember the look."""
        lightness, hue = lightness_and_hue(gaussian(texture, 0.8))
        look = np.concatenate([lightness[..., None], hue], axis=2)
        known = self._seen > _KNOWN
        sure = (core(FIELD) > 0) & known & (facing > _JUDGED[1])
        change = np.zeros((FIELD, FIELD), np.float32)
        offset = np.zeros(3, np.float32)
        if np.count_nonzero(sure) > 50:
            difference = look - self._look
            offset = np.median(difference[sure], axis=0).astype(np.float32)
            rest = np.abs(difference - offset)
            hues = np.maximum(rest[..., 1], rest[..., 2])
            change = np.maximum(smoothstep(*_CHANGE_HUE, hues), smoothstep(*_CHANGE_LIGHTNESS, rest[..., 0]))
            change *= known & (facing > 0.15) & (inside_oval(FIELD) > 0.01)
            change *= 1 - features(FIELD)
            solid = cv2.morphologyEx((change > 0.4).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
            change *= dilated(solid.astype(np.float32), 5)
            change = over_features(change)
        share = (facing > 0.25) * np.maximum(np.float32(_LEARN), 1 / (1 + self._seen)) * (1 - change)
        self._look += (look - offset - self._look) * share[..., None]
        self._seen += (facing > 0.25) & (change < 0.5)
        return change
