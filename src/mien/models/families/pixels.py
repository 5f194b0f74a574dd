"""Value ranges and axis orders between pictures and networks."""

from __future__ import annotations

from typing import Any

import cv2
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
    count, height, width, _ = pictures.shape
    planes = np.empty((count, 3, height, width), np.float32)
    if pictures.dtype == np.uint8:
        np.multiply(pictures.transpose(0, 3, 1, 2), np.float32(1 / 255), out=planes)
    else:
        np.clip(pictures.transpose(0, 3, 1, 2), 0, 1, out=planes)
    planes -= mean[:, None, None]
    planes /= std[:, None, None]
    return planes


def from_planes(planes: NDArray[Any], mean: Channels = ZEROS, std: Channels = ONES) -> Floats:
    """Pictures (n, height, width, 3) in 0..1 of planes (n, 3, height, width): `value * std + mean`, cut."""
    pictures = np.empty((len(planes), *planes.shape[2:], 3), np.float32)
    # Plane by plane: large arrays in between would cost more than all of the arithmetic.
    for picture, channels in zip(pictures, planes, strict=True):
        for number, plane in enumerate(channels):
            values = plane.astype(np.float32, copy=False) * std[number] + mean[number]
            cv2.insertChannel(np.clip(values, 0, 1, out=values), picture, number)
    return pictures
