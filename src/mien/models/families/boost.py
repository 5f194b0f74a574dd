"""Pixel boost: a crop of k times the network's side, run as k * k interleaved pictures in one batch.

Sub-image (i, j) has the pixels of the rows i, i + k, ... and the columns j, j + k, ...: each shows the whole face.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def split(crops: NDArray[Any], times: int) -> NDArray[Any]:
    """(n * times^2, side, side, c) of crops (n, times * side, times * side, c), row by row of each crop.

    Raises:
        ValueError: the side of the crops is not a multiple of `times`.
    """
    count, height, width, channels = crops.shape
    if height % times or width % times:
        raise ValueError(f"crops of {width}x{height} cannot be split into {times} x {times} interleaved pictures")
    cells = crops.reshape(count, height // times, times, width // times, times, channels)
    parts = cells.transpose(0, 2, 4, 1, 3, 5).reshape(-1, height // times, width // times, channels)
    return np.ascontiguousarray(parts)


def join(parts: NDArray[Any], times: int) -> NDArray[Any]:
    """The crops of which `split` made `parts`."""
    _, height, width, channels = parts.shape
    cells = parts.reshape(-1, times, times, height, width, channels)
    return np.ascontiguousarray(cells.transpose(0, 3, 1, 4, 2, 5).reshape(-1, height * times, width * times, channels))
