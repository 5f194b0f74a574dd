"""One picture in the decoder's own pixel format, and how a face is taken out of it and put back."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.geometry import Rect


class Frame(Protocol):
    """A picture or video frame, seen upright (rotation and orientation tags applied as views).

    Two views of its pixels exist:

    - *display*: uint8 RGB as a person would see it on an ordinary screen (HDR is tone mapped). For networks.
    - *working*: float32 RGB, gamma coded as sRGB, 0..1 for ordinary video, above 1 where HDR is brighter than
      its reference white. For editing.

    An edit is given back as a whole working patch; only its *difference* from the original patch is added to the
    stored planes. Pixels with difference 0 keep their stored values bit for bit, in any depth.
    """

    @property
    def index(self) -> int:
        """0-based number of the frame in the target."""
        ...

    @property
    def time_s(self) -> float:
        """Presentation time in seconds from the start of the target (0 for pictures)."""
        ...

    @property
    def width(self) -> int:
        """Columns of the upright picture."""
        ...

    @property
    def height(self) -> int:
        """Rows of the upright picture."""
        ...

    @property
    def step(self) -> int:
        """Pixels a chroma sample spans (1 or 2; 4 for 4:1:1): rectangles to edit are aligned to it."""
        ...

    def display(self, rect: Rect | None = None, *, max_side: int | None = None) -> NDArray[np.uint8]:
        """RGB uint8 (height, width, 3) of `rect` (whole frame if None).

        With `max_side` the result is shrunk by area so that its longer side is at most that many pixels; the planes
        are shrunk before the colour conversion, so that a small view of a large frame is cheap.
        """
        ...

    def working(self, rect: Rect) -> NDArray[np.float32]:
        """Working RGB float32 (height, width, 3) of `rect`, which lies inside the frame."""
        ...

    def apply(self, rect: Rect, before: NDArray[np.float32], after: NDArray[np.float32]) -> None:
        """Add `after - before` to the stored planes of `rect` (aligned to `step`), rounding to nearest.

        `before` is what `working(rect)` returned. Alpha is left as it is.
        """
        ...
