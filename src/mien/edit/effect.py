"""What an effect has to offer the pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.faces.face import TrackedFace
from mien.geometry import Rect


class Effect(Protocol):
    """Changes a face in a patch of a frame. Remembers what it needs per track, and forgets it for `face.fresh`."""

    @property
    def name(self) -> str:
        """As the recipe calls it."""
        ...

    @property
    def remembers(self) -> bool:
        """Whether an edit depends on the frames before."""
        ...

    def rect(self, face: TrackedFace, width: int, height: int) -> Rect:
        """The part of a frame of `width` x `height` pixels that `edit` may change, inside the frame."""
        ...

    def edit(
        self, patch: NDArray[np.float32], rect: Rect, face: TrackedFace, others: Sequence[TrackedFace]
    ) -> NDArray[np.float32]:
        """The changed patch, a new array; pixels that are not meant to change are equal to the patch's bit for bit.

        Args:
            patch: (height, width, 3) working RGB of `rect`: float32, gamma coded as sRGB, above 1 where HDR is
                brighter than its reference white. Not written to.
            rect: Where the patch lies in the frame: `rect(...)`, or somewhat larger.
            face: Whom to change.
            others: The other faces of the frame.
        """
        ...
