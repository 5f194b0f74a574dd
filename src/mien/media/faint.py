"""A faint, coarse pattern on a picture's brightness, and how one is written down.

Patterns are uint8 (rows, columns) over the whole upright picture, smoothly enlarged to it. A step is a sixteenth of an
8-bit code (in deeper pictures the same share of the range), `NOTHING` is no change: -8 to +7.9 codes.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

NOTHING = 128
STEPS_PER_CODE = 16

Pattern = NDArray[np.uint8]


def enlarged(pattern: Pattern, width: int, height: int) -> Pattern:
    """The pattern at the size of a picture."""
    return np.asarray(cv2.resize(pattern, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def add(samples: NDArray[Any], pattern: Pattern, bits: int) -> float:
    """Add a pattern of the same size to a plane (height, width) in place, rounded to nearest, kept within `bits`.

    Returns the mean square of the change in 8-bit codes.
    """
    share = 2.0 ** (bits - 8) / STEPS_PER_CODE
    depth = cv2.CV_8U if bits == 8 else cv2.CV_16U
    total = cv2.addWeighted(samples, 1, pattern, share, -NOTHING * share, dtype=depth)
    if bits not in (8, 16):
        total = np.minimum(total, 2**bits - 1)
    squares = cv2.norm(samples, total, cv2.NORM_L2SQR) / samples.size
    samples[...] = total
    return squares / 4 ** (bits - 8)
