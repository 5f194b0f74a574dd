"""Restoring faces by one of the field's networks."""

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
from mien.models.families.codeformer import CodeFormer
from mien.models.families.restoring import Restorer


class NeuralRestore:
    """Effect that gives a face more detail."""

    name = "restore"
    remembers = False

    def __init__(self, restorer: Restorer, masker: Masker, *, blend: float = 0.8, weight: float = 0.5) -> None:
        """Set up.

        Args:
            restorer: The network.
            masker: Says where the restored face is to be seen.
            blend: How much of its change shows, 0..1.
            weight: 0..1 for networks that can be told how faithful to be: higher is more faithful.
        """
        self._restorer = restorer
        self._masker = masker
        self._blend = np.float32(blend)
        self._weight = weight

    def rect(self, face: TrackedFace, width: int, height: int) -> Rect:
        """The part of a frame of `width` x `height` pixels that the edit may change."""
        return self._place(five_of(face)).rect(width, height)

    def edit(
        self, patch: NDArray[np.float32], rect: Rect, face: TrackedFace, others: Sequence[TrackedFace] = ()
    ) -> NDArray[np.float32]:
        """The patch with the face restored; see `Effect`.

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
        place = self._place(five_of(face))
        before = place.cut(patch, rect)
        yield "restorer"
        after = self._restored(before)
        mask = yield from self._masker.mask(before, after, place.move(sixty_eight_of(face)))
        return place.add_change(patch, rect, before, after, mask * self._blend * np.float32(face.fade))

    def _place(self, points: Floats) -> Placement:
        return Placement.of(points, self._restorer.template, self._restorer.side)

    def _restored(self, crop: Floats) -> Floats:
        if isinstance(self._restorer, CodeFormer):
            return self._restorer.restore(crop[None], weight=self._weight)[0]
        return self._restorer.restore(crop[None])[0]
