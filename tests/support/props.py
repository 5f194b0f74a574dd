"""Things in front of and behind people: a hand, a microphone, a studio wall."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

_SIDE = 512


@cache
def hand() -> NDArray[np.uint8]:
    """A hand with its forearm coming from below, (512, 512, 4) RGB and coverage."""
    shape = np.zeros((_SIDE, _SIDE), np.uint8)
    for foot, tip, thick in [
        ((190, 250), (150, 60), 46),
        ((235, 235), (222, 24), 50),
        ((280, 240), (296, 36), 48),
        ((322, 262), (366, 90), 40),
        ((190, 345), (70, 215), 50),
        ((256, 330), (256, 300), 170),
        ((256, 360), (264, 600), 120),
    ]:
        cv2.line(shape, foot, tip, 255, thick, cv2.LINE_AA)
    return _solid(shape, (204, 148, 122), bump=3.0, seed=11)


@cache
def microphone() -> NDArray[np.uint8]:
    """A hand microphone with a woven head, held from below, (512, 512, 4) RGB and coverage."""
    shape = np.zeros((_SIDE, _SIDE), np.uint8)
    cv2.line(shape, (256, 220), (256, 600), 255, 92, cv2.LINE_AA)
    cv2.ellipse(shape, (256, 130), (96, 118), 0, 0, 360, 255, -1, cv2.LINE_AA)
    sprite = _solid(shape, (66, 68, 76), bump=6.0, seed=7)
    y, x = np.mgrid[:_SIDE, :_SIDE]
    weave = ((x + y) // 7 + (x - y) // 7) % 2 * 26
    sprite[:245, :, :3] = cv2.add(sprite[:245, :, :3], np.repeat(weave[:245, :, None], 3, 2).astype(np.uint8))
    cv2.line(sprite, (158, 200), (354, 200), (170, 172, 180, 255), 9, cv2.LINE_AA)
    return sprite


def _solid(shape: NDArray[np.uint8], colour: tuple[int, int, int], bump: float, seed: int) -> NDArray[np.uint8]:
    """A shape swollen to a body, lit from the upper left, with a fine texture."""
    depth = cv2.distanceTransform((shape > 127).astype(np.uint8), cv2.DIST_L2, 5)
    height = cv2.GaussianBlur(np.sqrt(depth), (0, 0), 6) * bump
    light = 1 - 0.12 * (cv2.Sobel(height, cv2.CV_32F, 1, 0) * 0.5 + cv2.Sobel(height, cv2.CV_32F, 0, 1) * 0.35)
    texture = np.random.default_rng(seed).normal(0, 1, shape.shape).astype(np.float32)
    texture = cv2.GaussianBlur(texture, (0, 0), 1.2) * 0.06 + cv2.GaussianBlur(texture, (0, 0), 14) * 0.6
    body = np.array(colour, np.float32) * np.clip(light + texture, 0.35, 1.3)[..., None]
    coverage = cv2.GaussianBlur(shape, (0, 0), 1.5)
    return np.dstack([np.clip(body, 0, 255).astype(np.uint8), coverage])


def studio(width: int, height: int, seed: int = 1) -> NDArray[np.uint8]:
    """An invented room out of focus: a wall, lights, and enough detail for motion to be seen. (height, width, 3)."""
    random = np.random.default_rng(seed)
    small = np.zeros((90, 160, 3), np.float32)
    small += np.linspace(95, 45, 90, dtype=np.float32)[:, None, None] * random.uniform(0.7, 1.3, 3)
    for _ in range(24):
        centre = (int(random.integers(160)), int(random.integers(90)))
        colour = tuple(float(c) for c in random.uniform(30, 210, 3))
        extent = int(random.integers(3, 14))
        cv2.rectangle(small, centre, (centre[0] + extent, centre[1] + 3 * extent), colour, -1)
    small = cv2.GaussianBlur(small, (0, 0), 1.6)
    wall = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    fine = random.normal(0, 1, (height // 2, width // 2)).astype(np.float32)
    wall += cv2.resize(cv2.GaussianBlur(fine, (0, 0), 1.5), (width, height))[..., None] * 9
    return np.clip(wall, 0, 255).astype(np.uint8)
