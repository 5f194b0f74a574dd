"""Source pictures as layers on the texture plane, and how they are joined to one texture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit.fields import dilated, fill, gaussian, resize, smoothstep, weighted_blur
from mien.edit.raster import Floats
from mien.edit.regions import features, inside_oval, polygon
from mien.edit.skin import covered, learn_skin, look_of, skin_likelihood
from mien.edit.topology import FIELD, plane
from mien.edit.unroll import unroll, visibility
from mien.faces import mesh

SIDES = (256, 512, 1024)
"""Texture sizes; the smallest that keeps a picture's detail is taken."""
_DETAIL = 1.2
"""Texels a side for each pixel of the face's width."""
_JUDGED = 2 * FIELD
"""Side of the textures in which hair and the like are told from skin."""
_KNOWN = (0.15, 0.32)
"""How squarely a texel must be seen: below the first it is unknown, above the second fully used."""
_INNER = (0.06, 0.16)
"""Distance from the outline, in texture plane units, from which on a face shows nothing but itself."""
_NEED = (0.2, 0.5)
"""How squarely a texel is seen: below the first others fill in, above the second it stays as it is."""
_BETTER = (0.05, 0.25)
"""How much more squarely another layer must show a texel to begin to fill in, and to do so fully."""
_EVEN = 0.07
"""Sigma of the blur that tells light from detail when layers are joined, in texture plane units."""
_FLOOR = 0.02


class Layer(NamedTuple):
    """One picture, or its mirror image, on the texture plane."""

    texture: Floats
    """(side, side, 3) gamma coded RGB 0..1."""
    facing: Floats
    """(FIELD, FIELD) how squarely the picture shows each texel, 0..1; 0 where something hides it."""
    shown: Floats
    """(FIELD, FIELD) 0..1 how little hides it."""


class Joined(NamedTuple):
    """One person on the texture plane; the fields are those of `SourceFace`."""

    texture: Floats
    skin: Floats
    facing: Floats


def layer(picture: NDArray[np.uint8], landmarks: Floats) -> Layer:
    """Unroll a picture (height, width, 3) by its landmarks (478, 3), and tell what hides the face in it."""
    points = landmarks[:468] - np.array([0.5, 0.5, 0], np.float32)
    wanted = _DETAIL * float(np.ptp(points[:, 0]))
    side = next((side for side in SIDES if side >= wanted), SIDES[-1])
    texture = unroll(picture, points, side)
    facing = visibility(points, picture.shape[:2])
    # Nostrils and the crease of the lips turn away or hide each other, but in pictures they are where they belong.
    shown = cv2.morphologyEx((facing > 0).astype(np.float32), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    shown = cast(Floats, shown) * (inside_oval(FIELD) > 0.008) * (1 - _hidden(texture, facing))
    return Layer(texture, facing * shown, shown)


def _hidden(texture: Floats, facing: Floats) -> Floats:
    """(FIELD, FIELD) 0..1 where hair, a hat or a hand lies over the face."""
    look = look_of(resize(texture, _JUDGED, _JUDGED))
    model = learn_skin(look, resize(facing, _JUDGED, _JUDGED))
    if model is None:
        return np.zeros((FIELD, FIELD), np.float32)
    hidden = covered(skin_likelihood(look, model))
    # A little wider, as the edge of hair is a mixture; but brows stay whole.
    wider = gaussian(dilated(hidden, 5), 1.5) * (1 - features(_JUDGED))
    return resize(np.maximum(hidden, wider), FIELD, FIELD)


def join(layers: Sequence[Layer]) -> Joined:
    """One texture of all layers: the best one, its gaps filled from the others and from all mirror images."""
    ordered = sorted(layers, key=lambda one: -float(one.facing.sum()))
    side = max(one.texture.shape[0] for one in ordered)
    first, *rest = [one._replace(texture=resize(one.texture, side, side)) for one in ordered]
    texture, facing, shown = first
    for other in rest + [_mirrored(one) for one in (first, *rest)]:
        share = smoothstep(*_BETTER, other.facing - facing) * (1 - smoothstep(*_NEED, facing))
        share = gaussian(share, 1.5) * (other.facing > 0)
        gain = resize(_evening_gain(texture, facing, other), side, side)
        large = resize(share, side, side)[..., None]
        texture = texture * (1 - large) + other.texture * gain * large
        facing = facing * (1 - share) + other.facing * share
        shown = shown * (1 - share) + other.shown * share
    # In the middle of the face nothing is beyond the outline: nostrils and lids turn away, yet are the face's own.
    facing = np.maximum(facing, 0.5 * smoothstep(*_INNER, inside_oval(FIELD)) * shown)
    skin = _plain_skin(texture, facing)
    known = resize(smoothstep(*_KNOWN, facing), side, side)[..., None]
    whole = np.clip(texture * known + resize(skin, side, side) * (1 - known), 0, 1)
    return Joined(_closed(whole.astype(np.float32)), skin, facing)


def _mirrored(one: Layer) -> Layer:
    return Layer(*(np.ascontiguousarray(field[:, ::-1]) for field in one))


def _evening_gain(texture: Floats, facing: Floats, other: Layer) -> Floats:
    """(FIELD, FIELD, 3) factor for a layer's gamma coded colours so that its light goes on from the texture's."""
    here, there = (np.log(resize(one, FIELD, FIELD) + np.float32(_FLOOR)) for one in (texture, other.texture))
    both = np.minimum(facing, other.facing)
    return np.exp(np.clip(weighted_blur(here - there, both, _EVEN * FIELD), -0.7, 0.7))


def _closed(texture: Floats) -> Floats:
    """The texture with eyes and mouth painted over from their rims: what is in them is the target's.

    Without that the source's own irises and teeth would show as a line where the target's lids and lips close.
    """
    side = texture.shape[0]
    rings = (mesh.RIGHT_EYE, mesh.LEFT_EYE, mesh.LIPS_INNER)
    inside = np.max([polygon(plane()[ring] * side - 0.5, side, side) for ring in rings], axis=0)
    return fill(texture, 1 - inside)


def _plain_skin(texture: Floats, facing: Floats) -> Floats:
    """(FIELD, FIELD, 3) smooth skin colour, spread from where plain skin is surely seen over the whole plane."""
    small = resize(texture, FIELD, FIELD)
    look = look_of(small)
    sure = smoothstep(0.25, 0.5, facing) * (1 - features(FIELD))
    model = learn_skin(look, facing)
    if model is not None:
        sure = sure * skin_likelihood(look, model)
    smooth = weighted_blur(small, sure + np.float32(1e-6), 0.03 * FIELD)
    return np.clip(fill(smooth, smoothstep(0.3, 0.7, sure)), 0, 1)


def pyramid(texture: Floats) -> tuple[Floats, ...]:
    """The texture, and copies of half, a quarter, ... its side."""
    levels = [np.ascontiguousarray(texture, np.float32)]
    while levels[-1].shape[0] > 64:
        half = levels[-1].shape[0] // 2
        levels.append(resize(levels[-1], half, half))
    return tuple(levels)
