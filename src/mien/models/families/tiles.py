"""Large pictures through networks with a small view: tiles that overlap and melt into each other without seams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a picture is cut. All in pixels of the picture."""

    side: int
    """Width and height of a tile."""
    margin: int
    """At each edge of a tile, of which the result is thrown away: the network sees too little around it."""
    overlap: int
    """Inside the margins, over which a tile fades into the next."""

    def __post_init__(self) -> None:
        if min(self.margin, self.overlap) < 0 or self.step < 1:
            raise ValueError(
                f"tiles of {self.side} pixels have no room for {self.margin} margin, {self.overlap} overlap"
            )

    @property
    def step(self) -> int:
        """From one tile to the next."""
        return self.side - 2 * self.margin - self.overlap

    def count(self, length: int) -> int:
        """Tiles along a side of the picture."""
        return max(-(-(length - self.overlap) // self.step), 1)

    def fade(self, scale: int) -> Floats:
        """Weights along one axis of a result, margins cut off; those of neighbours add up to one."""
        length, overlap = (self.step + self.overlap) * scale, self.overlap * scale
        weights = np.ones(length, np.float32)
        ramp = (np.arange(overlap, dtype=np.float32) + 0.5) / max(overlap, 1)
        weights[:overlap], weights[length - overlap :] = ramp, ramp[::-1]
        return weights


def run_tiled(
    picture: Floats, tiling: Tiling, scale: int, network: Callable[[Floats], Floats], batch: int = 8
) -> Floats:
    """The whole picture through a network.

    Args:
        picture: (height, width, c).
        tiling: How it is cut; outside the picture its edge is mirrored.
        scale: Enlargement of the network.
        network: (n, side, side, c) to (n, scale * side, scale * side, c).
        batch: Most tiles of one call.

    Returns:
        (scale * height, scale * width, c)
    """
    height, width, channels = picture.shape
    rows, columns = tiling.count(height), tiling.count(width)
    reach = tiling.step + tiling.overlap
    covered = rows * tiling.step + tiling.overlap, columns * tiling.step + tiling.overlap
    padded = _mirrored(picture, tiling.margin, *covered)
    total = np.zeros((covered[0] * scale, covered[1] * scale, channels), np.float32)
    weights = np.zeros((*total.shape[:2], 1), np.float32)
    fade = tiling.fade(scale)
    window = np.outer(fade, fade)[:, :, None]
    inner = slice(tiling.margin * scale, (tiling.side - tiling.margin) * scale)
    for places in _groups([(y, x) for y in range(rows) for x in range(columns)], batch):
        corners = [(y * tiling.step, x * tiling.step) for y, x in places]
        tiles = np.stack([padded[y : y + tiling.side, x : x + tiling.side] for y, x in corners])
        for (y, x), result in zip(corners, network(tiles), strict=True):
            area = slice(y * scale, (y + reach) * scale), slice(x * scale, (x + reach) * scale)
            total[area] += result[inner, inner] * window
            weights[area] += window
    return (total / weights)[: height * scale, : width * scale]


def _mirrored(picture: Floats, margin: int, height: int, width: int) -> Floats:
    """The picture with `margin` around it, filled up to `height` x `width` below and to the right."""
    below, beside = height - picture.shape[0] + margin, width - picture.shape[1] + margin
    return cast(Floats, cv2.copyMakeBorder(picture, margin, below, margin, beside, cv2.BORDER_REFLECT))


def _groups(places: list[tuple[int, int]], size: int) -> Iterator[list[tuple[int, int]]]:
    for first in range(0, len(places), size):
        yield places[first : first + size]
