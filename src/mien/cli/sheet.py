"""The contact sheet of `mien faces`: every face found, by person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mien.geometry import Rect

COLUMNS = 8
CROP = 144
"""Side of a face on the sheet, in pixels."""
_GAP = 12
_MARGIN = 28
_LABEL = 40
_HEADER = 52
_TITLE = 64

_BACKGROUND = (22, 24, 29)
_TEXT = (232, 234, 238)
_FAINT = (150, 156, 168)
_ACCENTS = ((88, 166, 255), (255, 166, 87), (126, 231, 135), (255, 123, 172), (210, 168, 255), (242, 204, 96))


@dataclass(frozen=True, slots=True)
class Portrait:
    """One face on the sheet."""

    crop: NDArray[np.uint8]
    """RGB (CROP, CROP, 3)."""
    lines: tuple[str, str]
    """What is written below it."""


@dataclass(frozen=True, slots=True)
class Group:
    """The faces of one person."""

    name: str
    summary: str
    portraits: Sequence[Portrait]


def crop_square(box: NDArray[np.float32], width: int, height: int, *, margin: float = 0.35) -> Rect | None:
    """The square around a face's box with `margin` of its size on each side, inside a frame; None if outside of it."""
    left, top, right, bottom = (float(edge) for edge in box)
    side = max(right - left, bottom - top) * (1 + 2 * margin)
    x, y = (left + right - side) / 2, (top + bottom - side) / 2
    return Rect(round(x), round(y), max(round(side), 1), max(round(side), 1)).clip(width, height)


def fit_square(picture: NDArray[np.uint8], side: int = CROP) -> NDArray[np.uint8]:
    """RGB (h, w, 3) scaled to fill a square of `side` pixels, what is too long cut off evenly."""
    height, width = picture.shape[:2]
    edge = min(height, width)
    box = ((width - edge) / 2, (height - edge) / 2, (width + edge) / 2, (height + edge) / 2)
    scaled = Image.fromarray(picture).resize((side, side), Image.Resampling.LANCZOS, box=box, reducing_gap=2.0)
    return np.asarray(scaled)


def draw_sheet(title: str, groups: Sequence[Group]) -> NDArray[np.uint8]:
    """The sheet as RGB (height, width, 3): a row of faces for each person, more rows where they do not fit in one."""
    columns = min(COLUMNS, max(4, *(len(group.portraits) for group in groups)))
    width = 2 * _MARGIN + columns * (CROP + _GAP) - _GAP
    height = _TITLE + sum(_group_height(group, columns) for group in groups) + _MARGIN
    sheet = Image.new("RGB", (width, height), _BACKGROUND)
    draw = ImageDraw.Draw(sheet)
    _text(draw, (_MARGIN, 22), title, 20, _TEXT, width - 2 * _MARGIN)
    y = _TITLE
    for number, group in enumerate(groups):
        _draw_group(sheet, y, group, columns, _ACCENTS[number % len(_ACCENTS)])
        y += _group_height(group, columns)
    return np.asarray(sheet)


def _group_height(group: Group, columns: int) -> int:
    return _HEADER + -(-len(group.portraits) // columns) * (CROP + _LABEL + _GAP)


def _draw_group(sheet: Image.Image, top: int, group: Group, columns: int, accent: tuple[int, int, int]) -> None:
    draw = ImageDraw.Draw(sheet)
    draw.line((_MARGIN, top, sheet.width - _MARGIN, top), fill=(48, 52, 61))
    draw.rounded_rectangle((_MARGIN, top + 16, _MARGIN + 4, top + 38), 2, fill=accent)
    _text(draw, (_MARGIN + 14, top + 16), group.name, 17, _TEXT, 160)
    _text(draw, (_MARGIN + 14 + 130, top + 19), group.summary, 14, _FAINT, sheet.width - 2 * _MARGIN - 144)
    corners = Image.new("L", (CROP, CROP), 0)
    ImageDraw.Draw(corners).rounded_rectangle((0, 0, CROP - 1, CROP - 1), 8, fill=255)
    for number, portrait in enumerate(group.portraits):
        row, column = divmod(number, columns)
        x, y = _MARGIN + column * (CROP + _GAP), top + _HEADER + row * (CROP + _LABEL + _GAP)
        sheet.paste(Image.fromarray(portrait.crop), (x, y), corners)
        _text(draw, (x + 2, y + CROP + 5), portrait.lines[0], 13, _TEXT, CROP)
        _text(draw, (x + 2, y + CROP + 21), portrait.lines[1], 12, _FAINT, CROP)


def _text(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], text: str, size: int, colour: tuple[int, int, int], room: int
) -> None:
    font = ImageFont.load_default(size)
    while text and draw.textlength(text, font) > room:
        text = text[:-2].rstrip() + "~" if len(text) > 1 else ""
    draw.text(at, text, fill=colour, font=font)
