"""Whether a picture can serve as a source, and if not, why."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mien.edit.fields import gaussian
from mien.edit.raster import Floats
from mien.edit.regions import core, inside_oval
from mien.edit.skin import learn_skin, look_of, skin_likelihood
from mien.edit.unroll import unroll, visibility
from mien.faces.face import Face
from mien.faces.mesh import eye_distance

MAX_YAW, MAX_PITCH = 45.0, 35.0
"""Degrees a source's head may be turned: beyond, half of the face is not in the picture."""
MIN_EYE_DISTANCE = 15.0
"""Pixels between the eyes: below, no feature of the person is left."""
MIN_SHARPNESS = 0.25
"""See `sharpness`: sharp faces reach 0.48 and more, tiny ones 0.29; a blur of 3 % of the face's width leaves 0.22."""
MIN_SEEN = 0.5
"""Least part of cheeks, nose and chin that must be in the picture."""
MIN_SKIN = 0.83
"""Least part of what is seen of them that must look like one skin: bare faces reach 0.87 and more, masks 0.82."""
BLUEST = 0.3
"""Largest log(B/G) of skin, under any light."""
_SIDE = 96


def trouble(picture: NDArray[np.uint8], face: Face) -> str | None:
    """The reason why the face cannot be used, with what to do, or None if it can."""
    yaw, pitch = abs(face.pose.yaw), abs(face.pose.pitch)
    if yaw > MAX_YAW or pitch > MAX_PITCH:
        return f"the head is turned {yaw:.0f} degrees aside and {pitch:.0f} up or down, use a frontal picture"
    distance = eye_distance(face.landmarks)
    if distance < MIN_EYE_DISTANCE:
        return f"the face is tiny, {distance:.0f} pixels between the eyes, use one with {MIN_EYE_DISTANCE:.0f} or more"
    points = face.landmarks[:468] - np.array([0.5, 0.5, 0], np.float32)
    texture = unroll(picture, points, _SIDE)
    if sharpness(texture) < MIN_SHARPNESS:
        return "the face is blurred, use a sharper picture"
    sure = np.asarray(core(_SIDE)) > 0
    seen = visibility(points, picture.shape[:2], _SIDE)
    look = look_of(texture)
    model = learn_skin(look, seen)
    if model is None or (seen[sure] > 0).mean() < MIN_SEEN:
        return "too little of the face is in the picture, use one that shows all of it"
    judged = sure & (seen > 0.3)
    if skin_likelihood(look, model)[judged].mean() < MIN_SKIN or model.hue[1] > BLUEST:
        return "the face is covered (hair, hand, mask or hard shadow), use a picture that shows cheeks, nose and mouth"
    return None


def sharpness(texture: Floats) -> float:
    """Fine over coarse detail of lightness inside a face of 96 texels a side; the person's own lines cancel out."""
    grey = texture.mean(axis=2)
    fine, coarse = gaussian(grey, 0.7), gaussian(grey, 2.0)
    inside = inside_oval(_SIDE) > 0.1
    return float(np.abs(grey - fine)[inside].mean() / max(np.abs(fine - coarse)[inside].mean(), 1e-6))
