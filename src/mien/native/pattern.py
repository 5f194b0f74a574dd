"""A coarse pattern added to stored samples; `pattern.c` says how."""

from __future__ import annotations

from ctypes import c_float, c_int, c_ssize_t, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.native.arrays import packed, rows
from mien.native.loading import Kernel

_ADD = Kernel(
    "mien_add_pattern",
    *[c_void_p, c_ssize_t, *[c_int] * 3, c_void_p, *[c_int] * 2, *[c_float] * 3, c_void_p],
)


def add_pattern(samples: NDArray[Any], pattern: NDArray[np.uint8], *, nothing: float, share: float, most: int) -> float:
    """Add `(pattern - nothing) * share` to a plane in place, rounded to nearest, kept within 0..`most`.

    Args:
        samples: (height, width) uint8 or uint16, rows may lie apart.
        pattern: (rows, columns), enlarged to the plane by cubic convolution (Keys 1981, a = -3/4).
        nothing: What of the pattern changes nothing.
        share: Codes of a sample for each step of the pattern.
        most: Largest code.

    Returns:
        The sum of the squares of all changes, in codes.

    Raises:
        ValueError: the plane holds another type.
    """
    if samples.dtype.name not in ("uint8", "uint16"):
        raise ValueError(f"the plane holds {samples.dtype}, the kernel works with uint8 and uint16")
    squares = np.zeros(1, np.float64)
    address, stride = rows("samples", samples, samples.dtype, (None, None), written=True)
    _ADD(
        *(address, stride, samples.itemsize, *samples.shape),
        packed("pattern", pattern, np.uint8, (None, None)),
        *pattern.shape,
        *(nothing, share, most),
        packed("squares", squares, np.float64, (1,), written=True),
    )
    return float(squares[0])
