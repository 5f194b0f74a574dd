"""Rectangles in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle of whole pixels: `x`, `y` is the top left corner, `width` and `height` are at least 1."""

    x: int
    y: int
    width: int
    height: int

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise ValueError(f"a rectangle has at least one pixel, got {self.width}x{self.height}")

    @property
    def right(self) -> int:
        """First column right of the rectangle."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """First row below the rectangle."""
        return self.y + self.height

    @property
    def slices(self) -> tuple[slice, slice]:
        """Rows and columns, to index an array of shape (height, width, ...)."""
        return slice(self.y, self.bottom), slice(self.x, self.right)

    def clip(self, width: int, height: int) -> Rect | None:
        """The part inside a frame of `width` x `height` pixels, or None if nothing is inside."""
        x, y = max(self.x, 0), max(self.y, 0)
        right, bottom = min(self.right, width), min(self.bottom, height)
        return Rect(x, y, right - x, bottom - y) if right > x and bottom > y else None

    def align(self, step: int, width: int, height: int) -> Rect | None:
        """Grow outwards to multiples of `step` pixels (chroma samples stay whole), then clip to the frame."""
        x, y = self.x // step * step, self.y // step * step
        right, bottom = -(-self.right // step) * step, -(-self.bottom // step) * step
        return Rect(x, y, right - x, bottom - y).clip(width, height)


def bounding(rects: Sequence[Rect]) -> Rect:
    """The smallest rectangle around one or more."""
    x, y = min(rect.x for rect in rects), min(rect.y for rect in rects)
    return Rect(x, y, max(rect.right for rect in rects) - x, max(rect.bottom for rect in rects) - y)
