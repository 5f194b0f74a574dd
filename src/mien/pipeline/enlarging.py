"""Whole frames made larger by a network."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mien.geometry import Rect
from mien.media.frame import Frame
from mien.models.families.upscaling import Upscaler

_BLOCK_ROWS = 64
"""Rows that are painted at once: bounds the memory that floating point takes."""


class Enlargeable(Frame, Protocol):
    """A frame that has a larger version of itself."""

    def enlarged(self, times: int) -> Frame:
        """The same picture, `times` as wide and high, by plain interpolation."""
        ...


def enlarge(frame: Enlargeable, upscaler: Upscaler) -> Frame:
    """The frame in the network's size.

    Raises:
        EngineError: the network failed.
    """
    small = frame.working(Rect(0, 0, frame.width, frame.height))
    painted = upscaler.upscale(np.clip(small, 0, 1))
    large = frame.enlarged(upscaler.scale)
    for top in range(0, large.height, _BLOCK_ROWS):
        rect = Rect(0, top, large.width, min(_BLOCK_ROWS, large.height - top))
        before = large.working(rect)
        # What is brighter than the reference white, which networks do not know, stays as interpolated.
        brighter = np.maximum(before - np.float32(1), 0).astype(np.float32)
        large.apply(rect, before, painted[rect.slices] + brighter)
    return large
