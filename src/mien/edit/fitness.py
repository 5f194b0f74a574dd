"""Whether a picture can serve as a source, and if not, why."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.regions import core
from mien.edit.skin import learn_skin, look_of, skin_likelihood
from mien.edit.unroll import unroll, visibility
from mien.faces.face import Face
from mien.faces.mesh import eye_distance

MAX_YAW, MAX_PITCH = 50.0, 40.0
"""Degrees a source's head may be turned: beyond, half of the face is not in the picture."""
MIN_EYE_DISTANCE = 16.0
"""Pixels between the eyes: below, no feature of the person is left."""
MIN_SHARPNESS = 0.0045
"""Mean gradient of lightness over the face at 96 pixels a side, as a part of white."""
MIN_SEEN = 0.5
"""Least part of cheeks, nose and chin that must be seen."""
MIN_SKIN = 0.45
"""Least part of cheeks, nose and chin that must look like one and the same skin."""
_SIDE = 96


def trouble(picture: NDArray[np.uint8], face: Face) -> str | None:
    """The reason why the face cannot be used, with what to do, or None if it can."""
    yaw, pitch, _ = face.pose
    if abs(yaw) > MAX_YAW or abs(pitch) > MAX_PITCH:
        return f"the head is turned {abs(yaw):.0f} degrees aside and {abs(pitch):.0f} up or down, use a frontal picture"
    distance = eye_distance(face.landmarks)
    if distance < MIN_EYE_DISTANCE:
        return (
            f"the face is tiny, {distance:.0f} pixels between the eyes, use a larger picture (at least 16, better 60)"
        )
    points = face.landmarks[:468] - np.array([0.5, 0.5, 0], np.float32)
    texture = unroll(picture, points, _SIDE)
    seen = visibility(points, picture.shape[:2], _SIDE)
    if sharpness(texture) < MIN_SHARPNESS:
        return "the face is blurred, use a sharper picture"
    look = look_of(texture)
    model = learn_skin(look, seen)
    if model is None or (core(_SIDE) * (seen > 0)).sum() < MIN_SEEN * core(_SIDE).sum():
        return "too little of the face is in the picture, use one that shows all of it"
    if (skin_likelihood(look, model) * core(_SIDE)).sum() < MIN_SKIN * core(_SIDE).sum():
        return "the face is covered (hair, hand, mask or hard shadow), use a picture that shows cheeks, nose and mouth"
    return None


def sharpness(texture: NDArray[np.float32]) -> float:
    """Mean second difference of lightness over the sure parts of a texture of 96 texels a side, 0..1."""
    grey = texture.mean(axis=2)
    detail = np.abs(cv2.Laplacian(grey, cv2.CV_32F, ksize=1))
    weight = (np.asarray(core(_SIDE)) > 0.5).astype(np.float32)
    return float((detail * weight).sum() / weight.sum())
