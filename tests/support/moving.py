"""Clips made by moving stills over a background, with ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from mien.geometry import Rect

STILLS = Path(__file__).parent.parent / "stills"


def still(name: str) -> np.ndarray:
    """RGB uint8 of a test still, by the start of its name."""
    (path,) = STILLS.glob(f"{name}*")
    return cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)


@dataclass
class ArrayFrame:
    """A frame that holds RGB uint8 pixels."""

    pixels: np.ndarray
    index: int = 0
    time_s: float = 0.0
    step: int = 1

    @property
    def width(self) -> int:
        return self.pixels.shape[1]

    @property
    def height(self) -> int:
        return self.pixels.shape[0]

    def display(self, rect: Rect | None = None, *, max_side: int | None = None) -> np.ndarray:
        part = self.pixels if rect is None else self.pixels[rect.slices]
        height, width = part.shape[:2]
        zoom = 1 if max_side is None else max_side / max(height, width)
        if zoom >= 1:
            return part.copy()
        size = max(round(width * zoom), 1), max(round(height * zoom), 1)
        return cv2.resize(part, size, interpolation=cv2.INTER_AREA)

    def working(self, rect: Rect) -> np.ndarray:
        return self.pixels[rect.slices].astype(np.float32) / 255

    def apply(self, rect: Rect, before: np.ndarray, after: np.ndarray) -> None:
        changed = self.pixels[rect.slices] + (after - before) * 255
        self.pixels[rect.slices] = np.clip(np.rint(changed), 0, 255).astype(np.uint8)


def placed(image: np.ndarray, x: float, y: float, scale: float = 1.0, angle: float = 0.0) -> np.ndarray:
    """(2, 3) that puts the image's middle at x, y, scaled, turned clockwise by `angle` degrees (pixel coordinates)."""
    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -angle, scale)
    matrix[:, 2] += x - width / 2, y - height / 2
    return matrix


def compose(
    layers: Sequence[tuple[np.ndarray, np.ndarray]],
    size: tuple[int, int],
    *,
    background: np.ndarray | None = None,
    noise: float = 0.0,
    seed: int = 0,
) -> np.ndarray:
    """A picture of `size` (width, height): each (image, matrix) over the last, camera noise on top."""
    canvas = np.full((size[1], size[0], 3), 90, np.uint8) if background is None else background.copy()
    for image, matrix in layers:
        shown = cv2.warpAffine(np.full(image.shape[:2], 255, np.uint8), matrix, size)
        moved = cv2.warpAffine(image, matrix, size, flags=cv2.INTER_CUBIC)
        canvas = np.where(shown[..., None] > 127, moved, canvas)
    if noise:
        canvas = canvas + np.random.default_rng(seed).normal(0, noise, canvas.shape)
    return np.clip(np.rint(canvas), 0, 255).astype(np.uint8)


def frames(pictures: Sequence[np.ndarray], fps: float = 30.0, first: int = 0) -> list[ArrayFrame]:
    """Pictures as the frames of a clip."""
    return [ArrayFrame(picture, first + number, (first + number) / fps) for number, picture in enumerate(pictures)]
