"""Pictures that nobody photographed: plain, smooth, drawn, textured and noisy ones. All (height, width, 3) RGB."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def plain(width: int = 640, height: int = 360, level: int = 128) -> Pixels:
    return np.full((height, width, 3), level, np.uint8)


def gradient(width: int = 640, height: int = 360) -> Pixels:
    """From dark to light in both directions."""
    rows, columns = np.linspace(0.6, 1, height), np.linspace(40, 200, width)
    return _grey(rows[:, None] * columns)


def drawing(width: int = 640, height: int = 360, seed: int = 0) -> Pixels:
    """Discs, boxes and words in plain colours."""
    random = np.random.default_rng(seed)
    canvas = np.full((height, width, 3), 236, np.uint8)

    def place() -> tuple[int, int]:
        return int(random.integers(width)), int(random.integers(height))

    def colour() -> tuple[int, ...]:
        return tuple(random.integers(0, 256, 3).tolist())

    for _ in range(20):
        cv2.circle(canvas, place(), int(random.integers(height // 30, height // 5)), colour(), -1, cv2.LINE_AA)
        cv2.rectangle(canvas, place(), place(), colour(), 2)
        cv2.putText(canvas, "as drawn", place(), cv2.FONT_HERSHEY_SIMPLEX, height / 400, colour(), 2, cv2.LINE_AA)
    return canvas


def texture(width: int = 640, height: int = 360, *, grain: float = 5.0, seed: int = 0) -> Pixels:
    """Cloth: smooth noise of `grain` pixels (sigma)."""
    noise = np.random.default_rng(seed).normal(size=(height, width)).astype(np.float32)
    soft = cv2.GaussianBlur(noise, (0, 0), grain)
    return _grey(128 + 30 * soft / soft.std())


def stripes(width: int = 640, height: int = 360, period: float = 9.0) -> Pixels:
    """Slanted waves."""
    rows, columns = np.mgrid[:height, :width]
    return _grey(128 + 60 * np.sin(2 * np.pi * (columns + 0.3 * rows) / period))


def noise(width: int = 640, height: int = 360, *, spread: float = 20.0, seed: int = 0) -> Pixels:
    """Every sample on its own."""
    samples = np.random.default_rng(seed).normal(128, spread, (height, width, 3))
    return np.clip(np.rint(samples), 0, 255).astype(np.uint8)


DRAWN: Mapping[str, Callable[[], Pixels]] = MappingProxyType(
    {
        "grey": plain,
        "dark": partial(plain, level=20),
        "gradient": gradient,
        "drawing": drawing,
        "cloth": texture,
        "stripes": stripes,
        "noise": noise,
    }
)


def _grey(values: NDArray[np.floating]) -> Pixels:
    return np.repeat(np.clip(np.rint(values), 0, 255).astype(np.uint8)[..., None], 3, axis=2)
