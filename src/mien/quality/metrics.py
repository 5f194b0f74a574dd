"""How good an edited face is, measured on arrays of one picture.

Landmarks are (478, 3) or (n, 478, 3), or the first two coordinates of them, in pixels (see `mien.faces.face.Face`);
pictures are uint8 RGB (height, width, 3). `steadiness` measures what happens between frames.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.faces import mesh

Floats = NDArray[np.floating[Any]]
Pixels = NDArray[np.uint8]

_UPPER_LIDS, _LOWER_LIDS = (386, 159), (374, 145)
_OUTER_CORNERS, _INNER_CORNERS = (263, 33), (362, 133)
_UPPER_LIP, _LOWER_LIP, _LEFT_MOUTH, _RIGHT_MOUTH = 13, 14, 291, 61
_LEFT_CHEEK, _RIGHT_CHEEK = 454, 234

_RING_OUTSIDE, _RING_INSIDE = 0.05, 0.10
_RING_BLUR = 0.008


class Opening(NamedTuple):
    """How far eyes and mouth are open: height over width, 0 = closed."""

    eyes: Floats
    """(..., 2) the subject's left and right."""
    mouth: Floats
    """(...)"""


def identity_distance(a: Floats, b: Floats) -> Floats:
    """Euclidean distance of identity embeddings (..., 128), broadcast over the leading axes.

    With the bundled network one person is under .60 (King 2017, dlib).
    """
    return np.linalg.norm(a - b, axis=-1)


def opening(landmarks: Floats) -> Opening:
    """Height over width of eyes and mouth, by distances in as many dimensions as the landmarks have.

    With z the figure hardly changes when the head turns; without it only roll leaves it alone.
    """
    lids = _distance(landmarks, _UPPER_LIDS, _LOWER_LIDS) / _distance(landmarks, _OUTER_CORNERS, _INNER_CORNERS)
    lips = _distance(landmarks, (_UPPER_LIP,), (_LOWER_LIP,)) / _distance(landmarks, (_LEFT_MOUTH,), (_RIGHT_MOUTH,))
    return Opening(lids, lips[..., 0])


def face_width(landmarks: Floats) -> Floats:
    """Distance (...) between the cheeks before the ears, in pixels."""
    return _distance(landmarks, (_LEFT_CHEEK,), (_RIGHT_CHEEK,))[..., 0]


def eye_distance(landmarks: Floats) -> Floats:
    """Distance (...) between the outer corners of the eyes, in pixels."""
    return _distance(landmarks, (263,), (33,))[..., 0]


def face_mask(landmarks: Floats, width: int, height: int) -> NDArray[np.bool_]:
    """(height, width) True inside the face's oval."""
    return signed_distance(landmarks, width, height) > 0


def face_ring(landmarks: Floats, width: int, height: int, pixels: float = 10) -> NDArray[np.bool_]:
    """(height, width) True outside the face's oval, up to `pixels` away."""
    distance = signed_distance(landmarks, width, height)
    return (distance <= 0) & (distance > -pixels)


def signed_distance(landmarks: Floats, width: int, height: int) -> NDArray[np.float32]:
    """(height, width) distance of each pixel to the edge of the face's oval, positive inside."""
    inside = np.zeros((height, width), np.uint8)
    outline = np.round(landmarks[mesh.OVAL, :2] - 0.5).astype(np.int32)
    cv2.fillPoly(inside, [outline], (1,))
    within = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    beyond = cv2.distanceTransform(1 - inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return (within - beyond).astype(np.float32)


def ring_gradient_ratio(before: Pixels, after: Pixels, landmarks: Floats) -> float:
    """How strong edges are around the face's outline, after over before: 1 = no seam was added.

    Mean magnitude of the Sobel gradient of the grey pictures, blurred by .8 % of the face's width, in a ring from 5 %
    of the width outside the oval to 10 % inside it.

    Args:
        before: the target, RGB.
        after: the result, RGB of the same size.
        landmarks: (478, 2 or 3) of the target's face.
    """
    height, width = before.shape[:2]
    size = float(face_width(landmarks))
    distance = signed_distance(landmarks, width, height)
    ring = (distance > -_RING_OUTSIDE * size) & (distance < _RING_INSIDE * size)
    strength = [float(_gradient(picture, _RING_BLUR * size)[ring].mean()) for picture in (before, after)]
    return strength[1] / max(strength[0], 1e-6)


def psnr(a: NDArray[Any], b: NDArray[Any], mask: NDArray[np.bool_] | None = None, *, peak: float = 255.0) -> float:
    """Peak signal-to-noise ratio in dB; infinite where the arrays are equal.

    Args:
        a: (height, width, ...).
        b: the same shape.
        mask: (height, width) pixels to look at; None for all.
        peak: the largest possible value.
    """
    difference = a.astype(np.float64) - b.astype(np.float64)
    error = float(np.mean(np.square(difference if mask is None else difference[mask])))
    return float("inf") if error == 0 else 10 * float(np.log10(peak**2 / error))


def _distance(landmarks: Floats, first: tuple[int, ...], second: tuple[int, ...]) -> Floats:
    """(..., k) between pairs of points."""
    return np.linalg.norm(landmarks[..., list(first), :] - landmarks[..., list(second), :], axis=-1)


def _gradient(picture: Pixels, blur: float) -> NDArray[np.float32]:
    """(height, width) Sobel magnitude in levels a pixel."""
    grey = cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32), (0, 0), max(blur, 0.3))
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0, scale=1 / 8), cv2.Sobel(grey, cv2.CV_32F, 0, 1, scale=1 / 8)
    return cv2.magnitude(across, down).astype(np.float32)
