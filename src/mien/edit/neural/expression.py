"""The target's expression, brought back onto a face that an effect before has changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mien.edit.neural.crops import Placement
from mien.edit.neural.masking import Masker
from mien.edit.neural.points import five_of, sixty_eight_of
from mien.edit.raster import Floats
from mien.edit.steps import Steps, at_once
from mien.faces.face import TrackedFace
from mien.geometry import Rect
from mien.models.families.live_portrait import LivePortrait


class NeuralExpression:
    """Effect that draws a face with the expression it had in the target."""

    name = "expression"
    remembers = False

    def __init__(self, portrait: LivePortrait, masker: Masker, *, strength: float = 0.8) -> None:
        """Set up.

        Args:
            portrait: The networks.
            masker: Says where the drawn face is to be seen.
            strength: How much of the expression is brought back, 0..1.
        """
        self._portrait = portrait
        self._masker = masker
        self._strength = strength

    def rect(self, face: TrackedFace, width: int, height: int) -> Rect:
        """The part of a frame of `width` x `height` pixels that the edit may change."""
        return self._place(face).rect(width, height)

    def edit(
        self, patch: NDArray[np.float32], rect: Rect, face: TrackedFace, others: Sequence[TrackedFace] = ()
    ) -> NDArray[np.float32]:
        """The patch drawn anew with the expression that it has; see `Effect`.

        Raises:
            EngineError: a network failed.
        """
        return at_once(self.steps(patch, rect, face, others))

    def steps(
        self,
        patch: NDArray[np.float32],
        rect: Rect,
        face: TrackedFace,
        others: Sequence[TrackedFace] = (),
        *,
        target: NDArray[np.float32] | None = None,
    ) -> Steps[NDArray[np.float32]]:
        """The patch with the expression that the face has in `target`, network by network."""
        del others
        if face.fade <= 0:
            return patch.copy()
        place = self._place(face)
        before = place.cut(patch, rect)
        original = before if target is None else place.cut(target, rect)
        yield "expression_motion"
        motions = self._portrait.motions(before[None], original[None], strength=self._strength)
        yield "expression"
        look = self._portrait.look(before[None])
        yield "expression_generator"
        after = self._portrait.draw(look, motions)[0]
        mask = yield from self._masker.mask(before, after, place.move(sixty_eight_of(face)))
        return place.lay_back(patch, rect, before, after, mask * np.float32(face.fade))

    def _place(self, face: TrackedFace) -> Placement:
        points: Floats = five_of(face)
        return Placement.of(points, self._portrait.template, self._portrait.size)
