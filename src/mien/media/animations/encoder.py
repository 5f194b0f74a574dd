"""What an animation says about itself, and what its encoders have in common."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mien.geometry import Rect
from mien.media.metadata import Metadata

Rgba = NDArray[np.uint8]
"""(height, width, 4)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnimationInfo:
    """What an animation says about itself."""

    format: str
    """`GIF`, `PNG` or `WEBP`."""
    stored_width: int
    stored_height: int
    durations_s: tuple[Fraction, ...]
    """How long each frame is shown, exactly."""
    loop: int
    """How often it is shown, 0 = for ever."""
    has_alpha: bool
    """Whether pixels may be transparent."""
    hidden_first: bool = False
    """The first frame is shown only by readers that know no animated PNG."""
    metadata: Metadata
    details: Any = field(default=None, repr=False)
    """What its own format's encoder needs beyond that."""
    warnings: tuple[str, ...] = ()

    def with_xmp(self, packet: bytes) -> AnimationInfo:
        """The same with another XMP packet."""
        return replace(self, metadata=replace(self.metadata, xmp=packet))

    @property
    def width(self) -> int:
        """Columns, seen upright."""
        return self.metadata.orientation.size(self.stored_width, self.stored_height)[0]

    @property
    def height(self) -> int:
        """Rows, seen upright."""
        return self.metadata.orientation.size(self.stored_width, self.stored_height)[1]

    @property
    def frame_count(self) -> int:
        """Frames in all."""
        return len(self.durations_s)

    @property
    def duration_s(self) -> float:
        """Length of one run."""
        return float(sum(self.durations_s))


class Encoder(Protocol):
    """Writes an open file, frame by frame."""

    def write(self, rgba: Rgba, edited: NDArray[np.bool_], duration_s: Fraction) -> None:
        """Add a frame; `edited` (height, width) marks pixels that are not the source's own."""
        ...

    def finish(self) -> None:
        """Write what comes after the last frame."""
        ...


def area_of(mask: NDArray[np.bool_]) -> Rect:
    """Smallest rectangle around all that is set in (height, width); the first pixel if nothing is."""
    if not mask.any():
        return Rect(0, 0, 1, 1)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return Rect(int(columns[0]), int(rows[0]), int(columns[-1] - columns[0]) + 1, int(rows[-1] - rows[0]) + 1)


def differing(rgba: Rgba, canvas: Rgba) -> NDArray[np.bool_]:
    """Pixels that look different, (height, width): colours under full transparency do not count."""
    return (rgba != canvas).any(axis=2) & ((rgba[..., 3] | canvas[..., 3]) > 0)
