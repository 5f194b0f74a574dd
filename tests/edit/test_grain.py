"""Sharpness and grain of the drawn face against the target's own."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.swap import GeometricSwap
from mien.quality.metrics import eye_distance
from support.people import picture
from support.swapping import face_of, source, swap_face, tracked

Pixels = NDArray[np.uint8]
FINE_SIGMA = 0.8


def detail(image: Pixels, name: str) -> float:
    """Mean size of the finest detail on the cheeks, chin and forehead of a still's face."""
    face = face_of(name)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    fine = np.abs(grey - cv2.GaussianBlur(grey, (0, 0), FINE_SIGMA))
    half = round(0.15 * eye_distance(face.landmarks))
    patches = [
        fine[int(y) - half : int(y) + half, int(x) - half : int(x) + half]
        for x, y in face.landmarks[[50, 280, 199, 151], :2]
    ]
    return float(np.mean(patches))


def test_a_wrinkled_source_is_drawn_hardly_finer_than_a_smooth_target() -> None:
    image, face = picture("luispedro"), tracked(face_of("luispedro"))
    smooth = detail(image, "luispedro")
    assert detail(picture("grace_hopper"), "grace_hopper") > 2 * smooth
    assert detail(swap_face(image, face, GeometricSwap(source("grace_hopper"))), "luispedro") < 1.6 * smooth


def test_wrinkles_wider_than_the_finest_detail_stay() -> None:
    image, face = picture("luispedro"), tracked(face_of("luispedro"))
    result = swap_face(image, face, GeometricSwap(source("grace_hopper")))
    coarse = [cv2.GaussianBlur(one, (0, 0), 2.0) for one in (image, result)]
    assert detail(coarse[1], "luispedro") > 1.2 * detail(coarse[0], "luispedro")
