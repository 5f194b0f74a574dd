"""Puts the mark into frames, stronger where texture hides it."""

from __future__ import annotations

import math
from typing import Protocol, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.media.faint import NOTHING, STEPS_PER_CODE, Pattern
from mien.trust.watermark.carrier import CELLS, Floats, grid, repeated, square
from mien.trust.watermark.ids import MarkId, to_bits

SMALLEST_SIDE = CELLS
"""Pixels that the shorter side of a frame needs: one a cell."""
UNFIT = f"pictures with a palette or with fewer than {SMALLEST_SIDE} pixels on a side cannot carry a watermark"

# Standard deviation of the mark in 8-bit codes: in plain ground it must not be seen, and coding at crf 28 must leave
# something of it; the most keeps the frame above 40 dB even where it is texture all over.
_LEAST, _MOST = 0.9, 2.8
_PER_ROOT_OF_TEXTURE = 0.8
_ROUNDING = 0.2
"""Codes by which a smooth slope seems to have texture."""
_PATCH = np.ones((5, 5), np.uint8)
"""Cells; what is narrower is an edge."""
_IN_THE_DARK, _LIT = 0.6, 51.0
"""Share of the strength at black, and the code from which on all of it is used: a code is seen sooner in the dark."""


class Markable(Protocol):
    """A frame that takes a mark."""

    @property
    def width(self) -> int:
        """Columns of the upright picture."""
        ...

    @property
    def height(self) -> int:
        """Rows of the upright picture."""
        ...

    @property
    def subtle(self) -> bool:
        """Whether it can hold small changes: not where its colours are a palette's."""
        ...

    def glance(self, width: int, height: int) -> NDArray[np.uint8]:
        """Rough brightness (height, width) of the upright picture in 8 bits."""
        ...

    def brighten(self, pattern: Pattern) -> float:
        """Add a faint pattern to the brightness, and return its mean square in 8-bit codes."""
        ...


def fits(width: int, height: int) -> bool:
    """Whether a frame is large enough to carry the mark."""
    return min(width, height) >= SMALLEST_SIDE


def strength(few: NDArray[np.uint8]) -> Floats:
    """How strong the mark may be, in 8-bit codes (standard deviation), where `few` (rows, columns) shows this picture.

    Texture hides it, but a lone edge does not: what is narrower than `_PATCH` is no texture.
    """
    picture = few.astype(np.float32)
    detail = np.maximum(cv2.absdiff(picture, cv2.blur(picture, (3, 3))) - _ROUNDING, 0)
    texture = cv2.morphologyEx(cv2.blur(cv2.sqrt(detail), (3, 3)), cv2.MORPH_OPEN, _PATCH)
    light = np.minimum(_IN_THE_DARK + (1 - _IN_THE_DARK) / _LIT * picture, 1)
    return cast(Floats, np.minimum(_LEAST + _PER_ROOT_OF_TEXTURE * texture, _MOST) * light)


class Watermark:
    """The mark of one job. What it puts into a frame depends on the id and the frame alone.

    For one thread at a time.
    """

    def __init__(self, mark_id: MarkId) -> None:
        self.mark_id = mark_id
        self._square = square(to_bits(mark_id))
        self._carrier = self._square
        self._squares, self._frames = 0.0, 0

    @property
    def psnr_db(self) -> float | None:
        """Of the frames marked so far to what they were, 255 being the peak; None where there is none."""
        return 10 * math.log10(255**2 * self._frames / self._squares) if self._squares else None

    def embed(self, frame: Markable) -> bool:
        """Put the mark into a frame, in place; False, and nothing is done, where the frame cannot carry it."""
        if not fits(frame.width, frame.height) or not frame.subtle:
            return False
        columns, rows = grid(frame.width, frame.height)
        if self._carrier.shape != (rows, columns):
            self._carrier = np.ascontiguousarray(repeated(self._square, columns, rows))
        steps = cv2.multiply(self._carrier, strength(frame.glance(columns, rows)), scale=STEPS_PER_CODE)
        pattern = cv2.convertScaleAbs(np.clip(steps + NOTHING, 0, 255))
        self._squares += frame.brighten(np.asarray(pattern, np.uint8))
        self._frames += 1
        return True
