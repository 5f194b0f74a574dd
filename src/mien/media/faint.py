"""A faint, coarse pattern on a picture's brightness, and how one is written down.

Patterns are uint8 (rows, columns) over the whole upright picture, smoothly enlarged to it. A step is a sixteenth of an
8-bit code (in deeper pictures the same share of the range), `NOTHING` is no change: -8 to +7.9 codes.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.native.pattern import add_pattern

NOTHING = 128
STEPS_PER_CODE = 16

Pattern = NDArray[np.uint8]


def enlarged(pattern: Pattern, width: int, height: int) -> Pattern:
    """The pattern at the size of a picture."""
    return np.asarray(cv2.resize(pattern, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def add(samples: NDArray[Any], pattern: Pattern, bits: int) -> float:
    """Add a pattern, enlarged, to a plane (height, width) in place, rounded to nearest, kept within `bits`.

    Returns the mean square of the change in 8-bit codes.
    """
    plane = samples if samples.strides[1] == samples.itemsize else np.ascontiguousarray(samples)
    share = 2.0 ** (bits - 8) / STEPS_PER_CODE
    squares = add_pattern(plane, pattern, nothing=NOTHING, share=share, most=2**bits - 1)
    if plane is not samples:
        samples[...] = plane
    return squares / samples.size / 4 ** (bits - 8)
