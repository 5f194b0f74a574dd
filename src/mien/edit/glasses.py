"""Glasses on a face: are there any, and where their frame is on the texture plane."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from mien.edit.fields import smoothstep
from mien.edit.raster import Floats, Indices
from mien.edit.regions import grown_hull
from mien.edit.topology import plane
from mien.faces import mesh

SIDE = 192
"""Side of the textures looked at: the frame of glasses is two to a dozen texels thick."""
_EYES = (mesh.RIGHT_EYE, mesh.LEFT_EYE)
_RIM = (0.035, 0.13)
"""Distance from the edge of an eye within which the lower rim runs, in texture plane units."""
_WINDOW = 31
"""Side of the median that leaves the skin without the frame, in texels."""
_PRESENT = 0.45
"""Least mean contrast of the weaker lower rim; bare eyes reach 0.25, dark frames 0.65 and more."""
_THICKEST = 19
"""Thickest frame, in texels."""
_FRAME = (0.35, 0.6)
"""How much darker than what lies around it a texel begins to be, and is, part of the frame (logarithm)."""
_FLOOR = 0.08


def find_frame(texture: Floats) -> Floats | None:
    """(SIDE, SIDE) 0..1 where the frame of glasses is, or None if the face wears none.

    Args:
        texture: (SIDE, SIDE, 3) gamma coded RGB on the texture plane.
    """
    contrast = _contrast(texture)
    if min(_rim_contrast(contrast, ring) for ring in _EYES) < _PRESENT:
        return None
    logs = cv2.GaussianBlur(np.log(np.maximum(texture, 0) + _FLOOR), (0, 0), 0.7)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (_THICKEST, _THICKEST))
    darker = cv2.morphologyEx(logs, cv2.MORPH_BLACKHAT, kernel).max(axis=2)
    frame = cv2.dilate(smoothstep(*_FRAME, darker) * _zone(), np.ones((3, 3), np.uint8))
    return cv2.GaussianBlur(frame, (0, 0), 0.8)


def remove_frame(texture: Floats, frame: Floats) -> Floats:
    """A texture (side, side, 3) 0..1 with the frame painted over by the skin next to it."""
    side = texture.shape[0]
    mask = (cv2.resize(frame, (side, side)) > 0.25).astype(np.uint8)
    radius = 3 * side / SIDE
    painted = cv2.inpaint((np.clip(texture, 0, 1) * 255).astype(np.uint8), mask, radius, cv2.INPAINT_TELEA)
    return np.where(mask[..., None] > 0, painted.astype(np.float32) / 255, texture)


def _contrast(texture: Floats) -> Floats:
    """How far each texel is from the skin around it, in the logarithm of its colours."""
    # Sampling overshoots at edges: outside of 0..1 there is no logarithm to speak of.
    texture = np.clip(texture, 0, 1)
    around = cv2.merge([cv2.medianBlur(channel, _WINDOW) for channel in cv2.split((texture * 255).astype(np.uint8))])
    here, there = (np.log(picture + np.float32(0.05)) for picture in (texture, around.astype(np.float32) / 255))
    return np.abs(here - there).max(axis=2)


def _rim_contrast(contrast: Floats, ring: Indices) -> float:
    """Contrast of the strongest line that runs around the lower half of an eye, averaged over directions."""
    eye = plane()[ring]
    centre = eye.mean(axis=0)
    reach = np.linalg.norm(eye - centre, axis=1)
    bearings = np.arctan2(eye[:, 1] - centre[1], eye[:, 0] - centre[0])
    order = np.argsort(bearings)
    angles = np.radians(np.linspace(25, 155, 40))
    start = np.interp(angles, bearings[order], reach[order], period=2 * np.pi)
    radii = start[:, None] + np.linspace(*_RIM, 24)[None]
    x = (centre[0] + radii * np.cos(angles)[:, None]) * SIDE - 0.5
    y = (centre[1] + radii * np.sin(angles)[:, None]) * SIDE - 0.5
    lines = cv2.remap(contrast, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR)
    return float(np.minimum(lines.max(axis=1), 1).mean())


@cache
def _zone() -> Floats:
    """(SIDE, SIDE) 1 where a frame can be: around the eyes, over the bridge, out to the temples; not in the eyes."""
    eyes = plane()[np.concatenate(_EYES)]
    low, high = eyes.min(axis=0), eyes.max(axis=0)
    v, u = (np.mgrid[:SIDE, :SIDE].astype(np.float32) + 0.5) / SIDE
    around = (v > low[1] - 0.085) & (v < high[1] + 0.12) & (u > low[0] - 0.07) & (u < high[0] + 0.07)
    temples = (v > low[1] - 0.085) & (v < high[1] + 0.02)
    zone = cv2.GaussianBlur((around | temples).astype(np.float32), (0, 0), 1.5)
    return zone * (1 - np.max([grown_hull(ring, 0.008, SIDE) for ring in _EYES], axis=0))
