"""The label that everyone sees: a text in the lower right corner, drawn into the frame's own pixels.

GB 45438-2025 asks for characters of at least 5 % of the picture's shortest side, and on video for at least 2 seconds
at the opening.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mien.geometry import Rect
from mien.media.arrays import ArrayFrame
from mien.media.frame import Frame

TEXTS: Mapping[str, str] = MappingProxyType({"en": "AI generated", "zh": "AI生成"})
"""Wording by language; both name AI and generation, as the rule asks."""

HEIGHT_SHARE = 0.055
"""Height of a capital letter as a share of the shortest side: what is asked, and a tenth more for rounding."""
OPENING_S = 3.0
"""How long a video shows it from its first frame: what is asked, and a second more for players that fade in."""

_FONT = Path(__file__).parent / "fonts" / "label.otf"
_CAPITAL = 0.733
"""Height of the font's capitals as a share of its size (OS/2 table, sCapHeight)."""
_LEAST_CAPITAL_PX = 7
"""What can still be read, in pictures that are large enough for it."""
_MOST_OF_WIDTH = 0.9
_MARGIN, _PADDING = 0.4, 0.35
"""Distance of the shade from the edges, and of the text from the shade's, in sizes of the font."""
_SHADE = 0.6
"""How much of the picture the shade behind the text takes away."""


@dataclass(frozen=True, slots=True)
class Label:
    """A text for frames of one size."""

    rect: Rect
    ink: NDArray[np.float32]
    """(height, width, 1) of the rectangle: how much of a pixel is the text's white, 0..1."""
    shade: NDArray[np.float32]
    """The same of the dark ground behind it."""

    def draw(self, frame: Frame) -> None:
        """Put the text onto a frame."""
        before = frame.working(self.rect)
        after = before * (1 - self.shade) * (1 - self.ink) + self.ink
        frame.apply(self.rect, before, after.astype(np.float32))
        if isinstance(frame, ArrayFrame):
            frame.cover(self.rect, np.maximum(self.ink, self.shade)[..., 0].astype(np.float32))


@lru_cache(maxsize=16)
def make_label(language: str, width: int, height: int, step: int = 1) -> Label:
    """The label in a language for frames of `width` x `height` pixels, whose chroma samples span `step`."""
    text, font = TEXTS[language], _font(language, width, height)
    left, top, right, bottom = font.getbbox(text)
    padding, margin = round(_PADDING * font.size), round(_MARGIN * font.size)
    inner_width, inner_height = math.ceil(right - left), math.ceil(bottom - top)
    box = Rect(
        max(width - margin - inner_width - 2 * padding, 0),
        max(height - margin - inner_height - 2 * padding, 0),
        inner_width + 2 * padding,
        inner_height + 2 * padding,
    ).clip(width, height)
    assert box is not None
    rect = box.align(step, width, height) or box
    ink, shade = (Image.new("L", (rect.width, rect.height), 0) for _ in range(2))
    x, y = box.x - rect.x, box.y - rect.y
    ImageDraw.Draw(ink).text((x + padding - left, y + padding - top), text, fill=255, font=font)
    corners = (x, y, x + box.width - 1, y + box.height - 1)
    ImageDraw.Draw(shade).rounded_rectangle(corners, radius=padding, fill=round(255 * _SHADE))
    return Label(rect, _shares(ink), _shares(shade))


def _font(language: str, width: int, height: int) -> ImageFont.FreeTypeFont:
    """The font in the size that is asked for; larger where the text would be too small to read, and fits."""
    asked = math.ceil(HEIGHT_SHARE * min(width, height) / _CAPITAL)
    legible = math.ceil(_LEAST_CAPITAL_PX / _CAPITAL)
    if asked < legible:
        font = ImageFont.truetype(_FONT, legible)
        if font.getlength(TEXTS[language]) <= _MOST_OF_WIDTH * width and legible <= _MOST_OF_WIDTH * height / 2:
            return font
    return ImageFont.truetype(_FONT, asked)


def _shares(image: Image.Image) -> NDArray[np.float32]:
    return (np.asarray(image, np.float32)[..., None] / np.float32(255)).astype(np.float32, copy=False)
