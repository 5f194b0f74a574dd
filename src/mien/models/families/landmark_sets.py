"""Five points of 68, and both from the 478 landmarks of the face mesh for users who have no other landmarker.

The 68 points are those of iBUG 300-W: outline 0-16 from the picture's left, brows 17-21 and 22-26, bridge of the nose
27-30, its base 31-35, eyes 36-41 and 42-47, outer lips 48-59, inner lips 60-67.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

MESH_TO_68 = (
    *(127, 234, 93, 132, 58, 136, 150, 176, 152, 400, 379, 365, 288, 361, 323, 454, 356),
    *(70, 63, 105, 66, 107, 336, 296, 334, 293, 300),
    *(168, 197, 5, 4, 98, 97, 2, 326, 327),
    *(33, 160, 158, 133, 153, 144, 362, 385, 387, 263, 373, 380),
    *(61, 39, 37, 0, 267, 269, 291, 405, 314, 17, 84, 181),
    *(78, 82, 13, 312, 308, 317, 14, 87),
)
"""The mesh's vertex that lies nearest to each of the 68 points: corners are the same, the others are spread alike."""
MIRROR_68 = (
    *range(16, -1, -1),
    *range(26, 16, -1),
    *(27, 28, 29, 30, 35, 34, 33, 32, 31),
    *(45, 44, 43, 42, 47, 46, 39, 38, 37, 36, 41, 40),
    *(54, 53, 52, 51, 50, 49, 48, 59, 58, 57, 56, 55),
    *(64, 63, 62, 61, 60, 67, 66, 65),
)
"""The point on the other side of the face."""
_LEFT_EYE, _RIGHT_EYE = slice(36, 42), slice(42, 48)
_NOSE_TIP, _LEFT_CORNER, _RIGHT_CORNER = 30, 48, 54


def five_of_68(points: NDArray[Any]) -> Floats:
    """(..., 5, 2) of (..., 68, 2): middles of the eyes, tip of the nose, corners of the mouth."""
    eyes = [points[..., eye, :].mean(axis=-2) for eye in (_LEFT_EYE, _RIGHT_EYE)]
    others = [points[..., point, :] for point in (_NOSE_TIP, _LEFT_CORNER, _RIGHT_CORNER)]
    return np.stack([*eyes, *others], axis=-2).astype(np.float32)


def sixty_eight_of_mesh(landmarks: NDArray[Any]) -> Floats:
    """(..., 68, 2) of mesh landmarks (..., 468 or more, 2 or more).

    Mesh landmarks count the pixel's corner as (x, y), the 68 points its centre: half a pixel is taken off.
    """
    return (landmarks[..., list(MESH_TO_68), :2] - 0.5).astype(np.float32)


def five_of_mesh(landmarks: NDArray[Any]) -> Floats:
    """(..., 5, 2) of mesh landmarks (..., 468 or more, 2 or more)."""
    return five_of_68(sixty_eight_of_mesh(landmarks))
