"""Square crops around faces: where they lie, how they are cut, and the way back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.faces import mesh
from mien.faces.face import Detection
from mien.geometry import Rect
from mien.media.frame import Frame

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]
Picture = Pixels | Frame
"""RGB uint8 (height, width, 3), or a frame whose display view is that."""


@dataclass(frozen=True, slots=True)
class Crop:
    """A square of `side` picture pixels around `x`, `y`, turned clockwise by `angle` radians."""

    x: float
    y: float
    side: float
    angle: float

    @classmethod
    def around_detection(cls, detection: Detection, margin: float) -> Crop:
        """Level the line between the eyes; `margin` times the longer side of the box."""
        right, left = detection.keypoints[:2]
        x0, y0, x1, y1 = (float(value) for value in detection.box)
        angle = math.atan2(float(left[1] - right[1]), float(left[0] - right[0]))
        return cls((x0 + x1) / 2, (y0 + y1) / 2, max(x1 - x0, y1 - y0) * margin, angle)

    @classmethod
    def around_landmarks(cls, landmarks: Floats, margin: float) -> Crop:
        """Level the line between the outer eye corners; `margin` times the longer side of the levelled landmarks."""
        across = landmarks[263, :2] - landmarks[33, :2]
        angle = math.atan2(float(across[1]), float(across[0]))
        level = _turn(-angle)
        levelled = landmarks[: mesh.VERTICES, :2] @ level.T
        low, high = levelled.min(axis=0), levelled.max(axis=0)
        x, y = level.T @ ((low + high) / 2)
        return cls(float(x), float(y), float((high - low).max()) * margin, angle)

    def matrix(self, size: int) -> Floats:
        """(2, 3) from picture coordinates to those of a crop of `size` pixels (continuous coordinates in both)."""
        turn = _turn(-self.angle) * (size / self.side)
        shift = np.array([size / 2, size / 2], np.float32) - turn @ np.array([self.x, self.y], np.float32)
        return np.concatenate([turn, shift[:, None]], axis=1).astype(np.float32)

    def turned(self, quarters: int) -> Crop:
        """The same square, turned clockwise by quarter turns."""
        return replace(self, angle=self.angle + quarters * math.pi / 2)

    def jolted(self) -> Crop:
        """Much the same square, to see whether a finding depends on it: 15 % larger, 4 % off, turned by 6 degrees."""
        off = 0.03 * self.side
        return Crop(self.x + off, self.y - off, 1.15 * self.side, self.angle + 0.1)

    def differs(self, other: Crop, tolerance: float = 1.0) -> bool:
        """Whether landmarks found in this crop should be looked for again in the other one.

        At tolerance 1: moved by 6 % of the side, 13 % larger or smaller, or turned by 8 degrees.
        """
        shift = math.hypot(self.x - other.x, self.y - other.y) / other.side
        turn = abs(math.remainder(self.angle - other.angle, 2 * math.pi))
        growth = abs(math.log(self.side / other.side))
        return max(shift / 0.06, growth / 0.12, turn / math.radians(8)) > tolerance


def cut(picture: Picture, matrix: Floats, size: int) -> Pixels:
    """The crop (size, size, 3) that `matrix` (2, 3, picture to crop) describes; strong shrinking is antialiased.

    Outside the picture its edge is repeated. Only the needed part of a frame is converted.
    """
    scale = math.sqrt(abs(float(np.linalg.det(matrix[:, :2]))))
    # Shrinking by whole numbers is several times faster than by others; what remains is left to the warp.
    divisor = max(round(1 / scale), 1)
    area = _needed_area(matrix, size, divisor, *size_of(picture))
    view = view_of(picture, area, -(-max(area.width, area.height) // divisor))
    # From the view's pixel centres over the picture to the crop's pixel centres.
    zoom = np.array([area.width / view.shape[1], area.height / view.shape[0]])
    turn = matrix[:, :2] * zoom
    shift = matrix[:, 2] + matrix[:, :2] @ np.array([area.x, area.y]) + turn @ np.array([0.5, 0.5]) - 0.5
    whole = np.concatenate([turn, shift[:, None]], axis=1)
    crop = cv2.warpAffine(view, whole, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return cast(Pixels, crop)


def uncrop(points: Floats, matrix: Floats) -> Floats:
    """Points (n, 3) of a crop in picture coordinates; z grows like x and y."""
    inverse = cv2.invertAffineTransform(matrix).astype(np.float32)
    scale = float(np.linalg.norm(inverse[:, 0]))
    return np.concatenate([points[:, :2] @ inverse[:, :2].T + inverse[:, 2], points[:, 2:] * scale], axis=1)


def size_of(picture: Picture) -> tuple[int, int]:
    """Width and height."""
    if isinstance(picture, np.ndarray):
        return picture.shape[1], picture.shape[0]
    return picture.width, picture.height


def view_of(picture: Picture, area: Rect | None = None, max_side: int | None = None) -> Pixels:
    """RGB uint8 of a part of a picture, shrunk by area to at most `max_side` pixels."""
    if not isinstance(picture, np.ndarray):
        return picture.display(area, max_side=max_side)
    part = picture if area is None else picture[area.slices]
    height, width = part.shape[:2]
    if max_side is None or max(height, width) <= max_side:
        return part
    zoom = max_side / max(height, width)
    inner = max(round(width * zoom), 1), max(round(height * zoom), 1)
    return cast(Pixels, cv2.resize(part, inner, interpolation=cv2.INTER_AREA))


def _needed_area(matrix: Floats, size: int, divisor: int, width: int, height: int) -> Rect:
    """The part of a picture that a crop needs, in multiples of twice the divisor (chroma is shrunk as well)."""
    corners = np.array([[0, 0, 0], [size, 0, 0], [0, size, 0], [size, size, 0]], np.float32)
    points = uncrop(corners, matrix)[:, :2]
    margin, step = 2 * divisor, 2 * divisor
    left, top = ((points.min(axis=0) - margin) // 2 * 2).astype(int).tolist()
    right, bottom = (points.max(axis=0) + margin).astype(int).tolist()
    needed = Rect(left, top, -(-(right - left) // step) * step, -(-(bottom - top) // step) * step)
    inside = needed.clip(width, height)
    if inside is not None:
        return inside
    # Wholly outside: one pixel of the nearest edge stands for everything.
    return Rect(min(max(left, 0), width - 1), min(max(top, 0), height - 1), 1, 1)


def _turn(angle: float) -> Floats:
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.array([[cosine, -sine], [sine, cosine]], np.float32)
