"""Two pictures next to each other, labelled."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Pixels = NDArray[np.uint8]
"""RGB (height, width, 3)."""

DIVIDER = 4
"""Columns between the two pictures."""
MAX_WIDTH = 3840
"""Columns of the whole; larger pictures are made smaller."""


class SideBySide:
    """Puts pictures of two given sizes next to each other at one height; all sides of the result are even."""

    def __init__(self, before: tuple[int, int], after: tuple[int, int]) -> None:
        """`before` and `after` are (width, height); the result has the height of `after` if it fits."""
        aspects = [width / height for width, height in (before, after)]
        height = min(after[1], int((MAX_WIDTH - DIVIDER) / sum(aspects)))
        self.height = max(height // 2 * 2, 2)
        self._widths = [max(round(aspect * self.height / 2) * 2, 2) for aspect in aspects]
        size = min(max(self.height // 24, 11), 40)
        self._labels = [_Label(text, size) for text in ("before", "after")]

    @property
    def width(self) -> int:
        """Columns of the result."""
        return sum(self._widths) + DIVIDER

    def compose(self, before: Pixels, after: Pixels) -> Pixels:
        """The two pictures with the divider between them and a label in the top left corner of each."""
        canvas = np.full((self.height, self.width, 3), 255, np.uint8)
        left = 0
        for picture, width, label in zip((before, after), self._widths, self._labels, strict=True):
            half = canvas[:, left : left + width]
            half[:] = _resize(picture, width, self.height)
            label.draw(half)
            left += width + DIVIDER
        return canvas


class _Label:
    """White letters on a dark, half transparent plate, drawn once and laid over many frames."""

    def __init__(self, text: str, size: int) -> None:
        font = ImageFont.load_default(size)
        pad, self._offset = size // 2, size // 2
        _, top, _, bottom = (int(edge) for edge in font.getbbox("before after"))
        width = int(font.getlength(text)) + 2 * pad
        plate = Image.new("RGBA", (width, bottom - top + 2 * pad), (0, 0, 0, 0))
        draw = ImageDraw.Draw(plate)
        draw.rounded_rectangle((0, 0, plate.width - 1, plate.height - 1), pad, fill=(16, 18, 22, 170))
        draw.text((pad, pad - top), text, fill=(255, 255, 255, 255), font=font)
        pixels = np.asarray(plate).astype(np.float32)
        self._alpha = pixels[:, :, 3:] / 255
        self._colour = pixels[:, :, :3] * self._alpha

    def draw(self, picture: Pixels) -> None:
        place = picture[self._offset : self._offset + len(self._alpha), self._offset :][:, : self._alpha.shape[1]]
        height, width = place.shape[:2]
        alpha = self._alpha[:height, :width]
        place[:] = np.rint(place * (1 - alpha) + self._colour[:height, :width])


def _resize(picture: Pixels, width: int, height: int) -> Pixels:
    if picture.shape[:2] == (height, width):
        return picture
    smaller = width < picture.shape[1]
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA if smaller else cv2.INTER_CUBIC)  # pyright: ignore[reportReturnType]
