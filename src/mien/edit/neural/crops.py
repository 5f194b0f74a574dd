"""Aligned crops of faces: cut out of a patch, and laid back into it once they are edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.fields import gaussian, smoothstep
from mien.edit.raster import Floats
from mien.geometry import Rect
from mien.models.families.alignment import Matrix, align, cut, move
from mien.models.families.paste import footprint, paste
from mien.models.families.templates import Template

_UNCHANGED = (2 / 255, 6 / 255)
"""Change of a crop under which the network has left it alone, and from which on it has not."""
_VICINITY = 0.01
"""Part of the crop's side over which changes are averaged."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a face's crop lies in its frame."""

    matrix: Matrix
    """From pixels of the frame to those of the crop; whole numbers are pixels' centres."""
    size: int
    """Width and height of the crop."""

    @classmethod
    def of(cls, points: NDArray[Any], template: Template, size: int) -> Placement:
        """That brings five points (5, 2) of a frame onto a template."""
        return cls(align(points, template, size), size)

    def rect(self, width: int, height: int) -> Rect:
        """What the crop may change of a frame of `width` x `height` pixels; one pixel where it is outside of it."""
        # Between its outermost pixels' centres and where those of the next pixels would be, a crop fades out.
        wider = self.matrix.copy()
        wider[:, 2] += 1
        return footprint(wider, self.size + 1, width, height) or Rect(0, 0, 1, 1)

    def cut(self, patch: Floats, rect: Rect) -> Floats:
        """The crop (size, size, 3) in 0..1 of a patch (height, width, 3) that lies at `rect`."""
        matrix = self.matrix.copy()
        matrix[:, 2] += matrix[:, :2] @ (rect.x, rect.y)
        return np.clip(cut(patch, matrix, self.size), 0, 1)

    def move(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """Points (n, 2) of the frame in the crop."""
        return move(points, self.matrix)

    def lay_back(self, patch: Floats, rect: Rect, before: Floats, after: Floats, mask: Floats) -> Floats:
        """The patch with another face in it, a new array; pixels that the mask leaves out are equal bit for bit.

        Where the network has left the crop as it was, the frame keeps detail that is finer than the crop.

        Args:
            patch: (height, width, 3), as it was for `cut`.
            rect: Where it lies.
            before: (size, size, 3) the crop as it was cut.
            after: (size, size, 3) as it is now.
            mask: (size, size) 0..1.
        """
        kept = self._left_alone(before, after)
        result = paste(patch, rect, after, (mask * (1 - kept)).astype(np.float32), self.matrix)
        return self.add_change(result, rect, before, after, mask * kept) if kept.any() else result

    def add_change(self, patch: Floats, rect: Rect, before: Floats, after: Floats, mask: Floats) -> Floats:
        """As `lay_back`, for an edit that keeps the face: its change is added, all finer detail stays."""
        return paste(patch, rect, after, mask, self.matrix, before=before)

    def _left_alone(self, before: Floats, after: Floats) -> Floats:
        """(size, size) 0..1."""
        red, green, blue = cv2.split(cv2.absdiff(after, before))
        change = cast(Floats, cv2.max(cv2.max(red, green), blue))
        near = gaussian(change, max(self.size * _VICINITY, 0.5))
        return np.float32(1) - smoothstep(*_UNCHANGED, near)
