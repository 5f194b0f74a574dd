"""A picture held as one array: orientation as a view, colour through a `ColourSpace`."""

from __future__ import annotations

from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.geometry import Rect
from mien.media import faint
from mien.media.orientation import Orientation

Pixels = NDArray[np.unsignedinteger[Any]]
"""(height, width, channels) code values as stored in the file; alpha, where there is any, is the last channel."""

UPRIGHT = Orientation()

_BLOCK_PIXELS = 1 << 18
"""Pixels converted at once: bounds the memory that floating point takes."""

_BACKDROP = 255
"""Transparent pixels are shown on white, as most viewers do."""


class ColourSpace(Protocol):
    """How stored code values and working RGB (float32, coded as sRGB, 0..1) become each other."""

    @property
    def channels(self) -> int:
        """Colour channels of the stored pixels, without alpha."""
        ...

    @property
    def plain(self) -> bool:
        """Whether stored and working values differ by a factor only."""
        ...

    def to_working(self, stored: Pixels) -> NDArray[np.float32]:
        """Working RGB (height, width, 3) of stored colour (height, width, channels), within 0..1."""
        ...

    def add(self, stored: Pixels, before: NDArray[np.float32], after: NDArray[np.float32]) -> Pixels:
        """Stored colour changed by `after - before` (working RGB); bit-equal where the two are equal."""
        ...


class ArrayFrame:
    """A `Frame` over stored pixels. Edits change `pixels` in place."""

    step = 1

    def __init__(
        self,
        pixels: Pixels,
        space: ColourSpace,
        *,
        orientation: Orientation = UPRIGHT,
        index: int = 0,
        time_s: float = 0.0,
    ) -> None:
        self.pixels = pixels
        """(height, width, channels) as stored, before the orientation is applied."""
        self.space = space
        self.index = index
        self.time_s = time_s
        self._upright = orientation.upright(pixels)

    @property
    def width(self) -> int:
        """Columns of the upright picture."""
        return self._upright.shape[1]

    @property
    def height(self) -> int:
        """Rows of the upright picture."""
        return self._upright.shape[0]

    def display(self, rect: Rect | None = None, *, max_side: int | None = None) -> NDArray[np.uint8]:
        """RGB uint8 (height, width, 3) of `rect`, as `Frame.display`; transparent pixels are shown on white."""
        patch = self._upright[rect.slices] if rect else self._upright
        height, width = patch.shape[:2]
        if max_side and max(height, width) > max_side:
            scale = max_side / max(height, width)
            size = max(round(width * scale), 1), max(round(height * scale), 1)
            patch = _shrink(patch, *size)
        channels = self.space.channels
        rgb = _to_uint8(self.space, patch[..., :channels])
        return _over_backdrop(rgb, patch[..., channels]) if patch.shape[2] > channels else rgb

    def working(self, rect: Rect) -> NDArray[np.float32]:
        """Working RGB float32 (height, width, 3) of `rect`; transparency plays no part."""
        return self.space.to_working(self._upright[rect.slices][..., : self.space.channels])

    def apply(self, rect: Rect, before: NDArray[np.float32], after: NDArray[np.float32]) -> None:
        """Add `after - before` to the stored pixels of `rect`; alpha is left as it is."""
        stored = self._upright[rect.slices][..., : self.space.channels]
        stored[...] = self.space.add(stored, before, after)

    def cover(self, rect: Rect, opacity: NDArray[np.float32]) -> None:
        """Make pixels of `rect` at least as opaque as `opacity` (height, width), 0..1, where there is alpha."""
        channels = self.space.channels
        if self._upright.shape[2] <= channels:
            return
        alpha = self._upright[rect.slices][..., channels]
        least = np.rint(opacity * np.iinfo(alpha.dtype).max).astype(alpha.dtype)
        np.maximum(alpha, least, out=alpha)

    @property
    def subtle(self) -> bool:
        """Whether small changes of colour can be kept."""
        return True

    def glance(self, width: int, height: int) -> NDArray[np.uint8]:
        """Brightness (height, width) of the picture in 8 bits."""
        view = self.display(max_side=2 * max(width, height))
        few = cv2.resize(view, (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.cvtColor(few, cv2.COLOR_RGB2GRAY), np.uint8)

    def brighten(self, pattern: faint.Pattern) -> float:
        """Add a faint pattern to the brightness, and return its mean square in 8-bit codes; see `mien.media.faint`.

        Alpha is left as it is.
        """
        whole = faint.enlarged(pattern, self.width, self.height)
        if self.space.plain and self.pixels.dtype == np.uint8:
            return self._brighten_plain(whole)
        return self._brighten_by_colour(whole)

    def _brighten_plain(self, whole: faint.Pattern) -> float:
        channels, colours = self.pixels.shape[2], self.space.channels
        left_alone = np.full_like(whole, faint.NOTHING)
        steps = cv2.merge([whole] * colours + [left_alone] * (channels - colours))
        samples = np.ascontiguousarray(self._upright).reshape(self.height, -1)
        share = 1 / faint.STEPS_PER_CODE
        total = cv2.addWeighted(samples, 1, steps.reshape(samples.shape), share, -faint.NOTHING * share)
        squares = cv2.norm(samples, total, cv2.NORM_L2SQR)
        self._upright[...] = total.reshape(self._upright.shape)
        return squares / (whole.size * colours)

    def _brighten_by_colour(self, whole: faint.Pattern) -> float:
        rows, squares = max(_BLOCK_PIXELS // self.width, 1), 0.0
        for top in range(0, self.height, rows):
            block = Rect(0, top, self.width, min(rows, self.height - top))
            before = self.working(block)
            change = (whole[block.slices].astype(np.float32) - faint.NOTHING) / np.float32(faint.STEPS_PER_CODE * 255)
            self.apply(block, before, (before + change[..., None]).astype(np.float32, copy=False))
            squares += float(np.square(self.working(block) - before).sum()) * 255**2
        return squares / (3 * whole.size)


def _shrink(pixels: Pixels, width: int, height: int) -> Pixels:
    small = cv2.resize(np.ascontiguousarray(pixels), (width, height), interpolation=cv2.INTER_AREA)
    return small.reshape(height, width, -1).astype(pixels.dtype, copy=False)


def _to_uint8(space: ColourSpace, stored: Pixels) -> NDArray[np.uint8]:
    height, width = stored.shape[:2]
    result = np.empty((height, width, 3), np.uint8)
    step = max(_BLOCK_PIXELS // width, 1)
    for top in range(0, height, step):
        working = space.to_working(stored[top : top + step])
        np.rint(working * 255, out=result[top : top + step], casting="unsafe")
    return result


def _over_backdrop(rgb: NDArray[np.uint8], alpha: Pixels) -> NDArray[np.uint8]:
    maximum = np.iinfo(alpha.dtype).max
    if (alpha == maximum).all():
        return rgb
    weight = (alpha / np.float32(maximum))[..., None].astype(np.float32)
    return np.rint(rgb * weight + _BACKDROP * (1 - weight)).astype(np.uint8)
