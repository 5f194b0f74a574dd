"""Swapping by one of the field's networks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mien.edit.neural.crops import Placement
from mien.edit.neural.masking import Masker
from mien.edit.neural.points import five_of, sixty_eight_of
from mien.edit.neural.replacing import Replacer
from mien.edit.raster import Floats
from mien.edit.steps import Steps, at_once
from mien.faces.face import TrackedFace
from mien.geometry import Rect, bounding
from mien.models.families.arcface import ArcFace


class NeuralSwap:
    """Effect that puts one person's face onto tracked faces: crop, network, mask, back into the frame."""

    name = "swap"
    remembers = False

    def __init__(
        self, replacer: Replacer, masker: Masker, *, size: int | None = None, recogniser: ArcFace | None = None
    ) -> None:
        """Set up.

        Args:
            replacer: Knows whose face appears.
            masker: Says where.
            size: Side of the crop, a multiple of the network's own, which it is otherwise.
            recogniser: Needed if the replacer wants to know who is replaced.
        """
        self._replacer = replacer
        self._masker = masker
        self._size = size or replacer.side
        self._recogniser = recogniser if replacer.needs_target else None

    def rect(self, face: TrackedFace, width: int, height: int) -> Rect:
        """The part of a frame of `width` x `height` pixels that the edit may change or looks at."""
        points = five_of(face)
        rects = [self._place(points).rect(width, height)]
        if self._recogniser is not None:
            rects.append(_view(self._recogniser, points).rect(width, height))
        return bounding(rects)

    def edit(
        self, patch: NDArray[np.float32], rect: Rect, face: TrackedFace, others: Sequence[TrackedFace] = ()
    ) -> NDArray[np.float32]:
        """The patch with the source's face; see `Effect`.

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
        """`edit` network by network."""
        del others, target
        if face.fade <= 0:
            return patch.copy()
        points = five_of(face)
        place = self._place(points)
        before = place.cut(patch, rect)
        replaced = yield from self._target(patch, rect, points)
        yield "swapper"
        after, seen = self._replacer.replace(before, replaced)
        mask = yield from self._masker.mask(before, after, place.move(sixty_eight_of(face)))
        if seen is not None:
            mask = np.minimum(mask, seen)
        return place.lay_back(patch, rect, before, after, mask * np.float32(face.fade))

    def _place(self, points: Floats) -> Placement:
        return Placement.of(points, self._replacer.template, self._size)

    def _target(self, patch: Floats, rect: Rect, points: Floats) -> Steps[Floats | None]:
        """(512,) who is replaced, if it matters."""
        if self._recogniser is None:
            return None
        yield "recogniser"
        return self._recogniser.embed(_view(self._recogniser, points).cut(patch, rect)[None])[0]


def _view(recogniser: ArcFace, points: Floats) -> Placement:
    return Placement.of(points, recogniser.template, recogniser.size)
