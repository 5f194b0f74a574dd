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
    fits: bool = False
    """Whether tiles may be smaller, so that they cover a picture with less beyond its edges."""

    def __post_init__(self) -> None:
        if min(self.margin, self.overlap) < 0 or self.step < max(self.overlap, 1):
            raise ValueError(
                f"tiles of {self.side} pixels have no room for {self.margin} margin, {self.overlap} overlap"
            )

    @property
    def step(self) -> int:
        """From one tile to the next."""
        return self.side - 2 * self.margin - self.overlap

    def along(self, length: int) -> Row:
        """Tiles over one side of a picture."""
        count = max(-(-(length - self.overlap) // self.step), 1)
        least = max(-(-(length - self.overlap) // count), self.overlap, 1)
        return Row(count, least if self.fits else self.step, self.margin, self.overlap)


@dataclass(frozen=True, slots=True)
class Row:
    """Tiles over one side of a picture, in its pixels."""

    count: int
    step: int
    margin: int
    overlap: int

    @property
    def reach(self) -> int:
        """Of a tile, margins cut off."""
        return self.step + self.overlap

    @property
    def side(self) -> int:
        """Of a tile."""
        return self.reach + 2 * self.margin

    @property
    def covered(self) -> int:
        """By all tiles, margins cut off."""
        return self.count * self.step + self.overlap

    def fade(self, number: int, scale: int) -> Floats:
        """Weights along the result of one tile, margins cut off; of all tiles that show a pixel they add up to one."""
        weights, overlap = np.ones(self.reach * scale, np.float32), self.overlap * scale
        ramp = (np.arange(overlap, dtype=np.float32) + 0.5) / max(overlap, 1)
        if number > 0:
            weights[:overlap] = ramp
        if number < self.count - 1:
            weights[len(weights) - overlap :] = ramp[::-1]
        return weights

    def inner(self, scale: int) -> slice:
        """Of a result, margins cut off."""
        return slice(self.margin * scale, (self.margin + self.reach) * scale)

    def area(self, number: int, scale: int) -> slice:
        """Of the whole result, where one tile is."""
        return slice(number * self.step * scale, (number * self.step + self.reach) * scale)


def run_tiled(
    picture: Floats, tiling: Tiling, scale: int, network: Callable[[Floats], Floats], batch: int = 8
) -> Floats:
    """The whole picture through a network.

    Args:
        picture: (height, width, c).
        tiling: How it is cut; outside the picture its edge is mirrored.
        scale: Enlargement of the network.
        network: (n, tile height, tile width, c) to (n, scale * tile height, scale * tile width, c).
        batch: Most tiles of one call.

    Returns:
        (scale * height, scale * width, c)
    """
    height, width, channels = picture.shape
    down, across = tiling.along(height), tiling.along(width)
    padded = _mirrored(picture, tiling.margin, down.covered, across.covered)
    total = np.zeros((down.covered * scale, across.covered * scale, channels), np.float32)
    for places in _groups([(y, x) for y in range(down.count) for x in range(across.count)], batch):
        corners = [(y * down.step, x * across.step) for y, x in places]
        tiles = np.stack([padded[y : y + down.side, x : x + across.side] for y, x in corners])
        for (y, x), result in zip(places, network(tiles), strict=True):
            weights = np.outer(down.fade(y, scale), across.fade(x, scale))[:, :, None]
            part = result[down.inner(scale), across.inner(scale)]
            total[down.area(y, scale), across.area(x, scale)] += part * weights
    return total[: height * scale, : width * scale]


def _mirrored(picture: Floats, margin: int, height: int, width: int) -> Floats:
    """The picture with `margin` around it, filled up to `height` x `width` below and to the right."""
    below, beside = height - picture.shape[0] + margin, width - picture.shape[1] + margin
    return cast(Floats, cv2.copyMakeBorder(picture, margin, below, margin, beside, cv2.BORDER_REFLECT))


def _groups(places: list[tuple[int, int]], size: int) -> Iterator[list[tuple[int, int]]]:
    for first in range(0, len(places), size):
        yield places[first : first + size]
