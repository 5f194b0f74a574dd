"""How a stored picture is turned to be seen upright, as views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from mien.geometry import Rect


@dataclass(frozen=True, slots=True)
class Orientation:
    """One of the eight ways to turn a picture: transpose first, then mirror. The default leaves it as it is."""

    transpose: bool = False
    mirror_x: bool = False
    mirror_y: bool = False

    @classmethod
    def from_matrix(cls, matrix: Sequence[int]) -> Orientation | None:
        """From a display matrix (9 integers, 16.16 fixed point, row vectors); None if it is no quarter turn."""
        a, b, c, d = (int(matrix[i]) for i in (0, 1, 3, 4))
        if a and d and not b and not c:
            return cls(False, a < 0, d < 0)
        if b and c and not a and not d:
            return cls(True, c < 0, b < 0)
        return None

    @property
    def rotation(self) -> int:
        """Counter-clockwise turn in degrees that makes the stored picture upright (mirroring left out)."""
        if self.transpose:
            return 90 if self.mirror_y else 270
        return 180 if self.mirror_y else 0

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Upright width and height of a stored picture."""
        return (height, width) if self.transpose else (width, height)

    def upright(self, stored: NDArray[Any]) -> NDArray[Any]:
        """View of a stored array (h, w, ...) as it is seen."""
        if self.transpose:
            stored = stored.swapaxes(0, 1)
        return stored[:: -1 if self.mirror_y else 1, :: -1 if self.mirror_x else 1]

    def stored(self, upright: NDArray[Any]) -> NDArray[Any]:
        """Inverse of `upright`."""
        turned = upright[:: -1 if self.mirror_y else 1, :: -1 if self.mirror_x else 1]
        return turned.swapaxes(0, 1) if self.transpose else turned

    def stored_rect(self, rect: Rect, width: int, height: int) -> Rect:
        """Where the upright `rect` lies in the stored picture; `width` and `height` are the upright picture's."""
        x = width - rect.right if self.mirror_x else rect.x
        y = height - rect.bottom if self.mirror_y else rect.y
        if self.transpose:
            return Rect(y, x, rect.height, rect.width)
        return Rect(x, y, rect.width, rect.height)
