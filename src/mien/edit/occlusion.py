"""What lies over the target's face: hair, hats, hands, a microphone; seen on the texture plane."""

from __future__ import annotations

import numpy as np

from mien.edit.fields import smoothstep
from mien.edit.memory import RememberedLook
from mien.edit.raster import Floats
from mien.edit.skin import SkinModel, covered, learn_skin, look_of, skin_likelihood
from mien.edit.topology import FIELD

_JUDGED = (0.2, 0.4)
"""How squarely a texel must be seen to begin to be, and to be, judged: near the outline other things show through."""
_REJUDGE, _SETTLE = 4, 0.25
"""Frames between two judgements by colour, and the share of a new one: hair and hats stay where they are on a face."""
_CLEAR = 0.02
"""Judged again only while less than this part of the face has changed: what passes by would be taken for hair."""
_RECEDE = 0.6
"""What is left of a cover one frame after it is gone; new ones count at once."""


class FaceCover:
    """What covers one tracked face, frame after frame.

    Two signs are combined: colours unlike the face's own skin (hair, hats), and a look unlike the remembered one
    (whatever passes in front).
    """

    def __init__(self) -> None:
        self._age = 0
        self._memory = RememberedLook()
        self._model: SkinModel | None = None
        self._unlike = np.zeros((FIELD, FIELD), np.float32)
        self._changed = np.zeros((FIELD, FIELD), np.float32)

    def update(self, texture: Floats, facing: Floats) -> Floats:
        """Take in a frame.

        Args:
            texture: (FIELD, FIELD, 3) the target on the texture plane, gamma coded RGB.
            facing: (FIELD, FIELD) how squarely it is seen there, 0..1.

        Returns:
            (FIELD, FIELD) 0..1 how much each texel is covered.
        """
        look = look_of(texture)
        change, light = self._memory.compare(look, facing)
        self._changed = np.maximum(change, self._changed * np.float32(_RECEDE))
        if self._age % _REJUDGE == 0 and change.mean() < _CLEAR:
            self._judge(look - light, facing)
        self._age += 1
        return np.maximum(self._changed, self._unlike)

    def _judge(self, look: Floats, facing: Floats) -> None:
        """Tell hair and hats from skin by their colours."""
        if self._model is None:
            self._model = learn_skin(look, facing)
        if self._model is None:
            return
        judged = smoothstep(*_JUDGED, facing)
        now = covered(1 - judged * (1 - skin_likelihood(look, self._model)))
        self._unlike += (now - self._unlike) * np.float32(_SETTLE if self._age else 1)
