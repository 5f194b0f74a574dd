"""Value ranges and axis orders between pictures and networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Channels = NDArray[np.float32]
"""(3,) red, green, blue."""


def _channels(*values: float) -> Channels:
    channels = np.array(values, np.float32)
    channels.setflags(write=False)
    return channels


IMAGENET_MEAN = _channels(0.485, 0.456, 0.406)
IMAGENET_STD = _channels(0.229, 0.224, 0.225)
"""Of the ImageNet data set's RGB values in 0..1."""
ZEROS = _channels(0.0, 0.0, 0.0)
HALVES = _channels(0.5, 0.5, 0.5)
ONES = _channels(1.0, 1.0, 1.0)


def unit(pictures: NDArray[Any]) -> Floats:
    """Values 0..1 of uint8 pictures; float ones are cut to that range."""
    if pictures.dtype == np.uint8:
        return pictures * np.float32(1 / 255)
    return np.clip(pictures, 0, 1).astype(np.float32, copy=False)


def to_planes(pictures: NDArray[Any], mean: Channels = ZEROS, std: Channels = ONES) -> Floats:
    """(n, 3, height, width) `(value - mean) / std` of pictures (n, height, width, 3)."""
    values = (unit(pictures) - mean) / std
    return np.ascontiguousarray(values.transpose(0, 3, 1, 2))


def from_planes(planes: NDArray[Any], mean: Channels = ZEROS, std: Channels = ONES) -> Floats:
    """Pictures (n, height, width, 3) in 0..1 of planes (n, 3, height, width): `value * std + mean`, cut."""
    values = planes.transpose(0, 2, 3, 1) * std + mean
    return np.ascontiguousarray(np.clip(values, 0, 1), np.float32)
