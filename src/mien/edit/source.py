"""The person whose face appears: pictures made into one texture, one shape, one identity."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit import fitness, glasses, shape
from mien.edit.fields import fill, smoothstep, weighted_blur
from mien.edit.raster import Floats
from mien.edit.regions import features, inside_oval
from mien.edit.skin import covered, learn_skin, skin_likelihood
from mien.edit.texture import unroll, visibility
from mien.edit.topology import FIELD
from mien.errors import NoFaceError, UnfitSourceError
from mien.faces.align import to_canonical
from mien.faces.face import Face

SAME_PERSON = 0.6
"""Euclidean distance of two embeddings of the bundled identity net under which they show one person."""
REMOVE = False
NEED = (0.05, 0.2)
DK = (5, 5)
DS = 1.5
CK = 5
_SIDES = (256, 512, 1024)
"""Texture sizes; the smallest that keeps a picture's detail is taken."""
_KNOWN = (0.2, 0.4)
"""How squarely a texel must be seen: below the first it is unknown, above the second fully used."""
_EVEN = 0.12
"""Sigma of the blur that tells light from detail when pictures are joined, in texture plane units."""


class SourceAnalyser(Protocol):
    """What is asked of the face analyser here."""

    def find(self, picture: NDArray[np.uint8], /) -> list[Face]:
        """Every face, largest first."""
        ...

    def embed(self, picture: NDArray[np.uint8], faces: Sequence[Face], /) -> Floats:
        """(n, 128) identity embeddings."""
        ...


@dataclass(frozen=True, slots=True)
class SourceFace:
    """One person, ready to be drawn onto others."""

    textures: tuple[Floats, ...]
    """(side, side, 3) gamma coded RGB 0..1 on the texture plane, each half the side of the one before."""
    skin: Floats
    """(FIELD, FIELD, 3) the person's plain skin without any detail, also where the pictures do not show it."""
    facing: Floats
    """(FIELD, FIELD) how squarely the pictures show each texel, 0..1; 0 = nothing is known there."""
    shape: Floats
    """(468, 3) the person's neutral face in the canonical mesh's axes (cm)."""
    embedding: Floats
    """(128,) mean identity embedding."""
    warnings: tuple[str, ...] = ()
    """Pictures that were left out and why."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    picture: NDArray[np.uint8]
    face: Face
    embedding: Floats


@dataclass(frozen=True, slots=True)
class _Layer:
    """One picture (or its mirror image) on the texture plane."""

    texture: Floats
    facing: Floats
    shown: Floats
    """(FIELD, FIELD) 1 where the picture shows the face, 0 where something hides it."""


def build_source(pictures: Sequence[tuple[str, NDArray[np.uint8]]], analyser: SourceAnalyser) -> SourceFace:
    """Make one person of one or more pictures; the largest face of each is taken.

    Args:
        pictures: name (for messages) and upright RGB (height, width, 3) of each.
        analyser: finds faces and tells identities.

    Raises:
        NoFaceError: a lone picture, or every picture, shows no face.
        UnfitSourceError: no picture can be used; the message has the reason for each.
        ValueError: no pictures were given.
    """
    if not pictures:
        raise ValueError("a source needs at least one picture")
    candidates, troubles, faceless = _examine(pictures, analyser)
    if not candidates:
        message = "; ".join(troubles)
        raise (NoFaceError if faceless else UnfitSourceError)(f"no usable source picture: {message}")
    candidates, strangers = _one_person(candidates)
    warnings = tuple(f"source picture left out: {trouble}" for trouble in troubles + strangers)
    layers = _layers(candidates)
    texture, facing = _join(layers)
    base = _plain_skin(texture, facing)
    side = texture.shape[0]
    known = cv2.resize(smoothstep(*_KNOWN, facing), (side, side))[..., None]
    texture = np.clip(texture * known + cv2.resize(base, (side, side)) * (1 - known), 0, 1)
    neutral = np.mean([shape.neutral(to_canonical(one.face.landmarks)) for one in candidates], axis=0)
    embedding = np.mean([one.embedding for one in candidates], axis=0)
    return SourceFace(
        _pyramid(texture), base, facing, neutral.astype(np.float32), embedding.astype(np.float32), warnings
    )


def _examine(
    pictures: Sequence[tuple[str, NDArray[np.uint8]]], analyser: SourceAnalyser
) -> tuple[list[_Candidate], list[str], bool]:
    """Usable pictures, what is wrong with the others, and whether none of them shows a face at all."""
    candidates: list[_Candidate] = []
    troubles: list[str] = []
    faceless = True
    for name, picture in pictures:
        faces = analyser.find(picture)
        if not faces:
            troubles.append(f"{name} shows no face")
            continue
        faceless = False
        face = max(faces, key=lambda one: float(np.prod(one.box[2:] - one.box[:2])))
        if trouble := fitness.trouble(picture, face):
            troubles.append(f"{name} is unfit: {trouble}")
            continue
        candidates.append(_Candidate(os.fspath(name), picture, face, analyser.embed(picture, [face])[0]))
    return candidates, troubles, faceless


def _one_person(candidates: list[_Candidate]) -> tuple[list[_Candidate], list[str]]:
    """The pictures that show the person most of them show, and a message for each of the others."""
    embeddings = np.stack([one.embedding for one in candidates])
    distances = np.linalg.norm(embeddings[:, None] - embeddings[None], axis=2)
    friends = distances < SAME_PERSON
    # The picture with most friends (then the closest ones) stands for the person.
    middle = int(np.lexsort((distances.sum(axis=1), -friends.sum(axis=1)))[0])
    strangers = [
        f"{one.name} shows another person than {candidates[middle].name} (identity distance {distances[middle, i]:.2f})"
        for i, one in enumerate(candidates)
        if not friends[middle, i]
    ]
    return [one for i, one in enumerate(candidates) if friends[middle, i]], strangers


def _layers(candidates: list[_Candidate]) -> list[_Layer]:
    """Textures of all pictures, those that show most first, then their mirror images."""
    widest = max(float(one.face.box[2] - one.face.box[0]) for one in candidates)
    side = next((side for side in _SIDES if side >= 1.2 * widest), _SIDES[-1])
    layers = [_layer(one, side) for one in candidates]
    layers.sort(key=lambda layer: -float(layer.facing.sum()))
    return layers + [_Layer(one.texture[:, ::-1], one.facing[:, ::-1], one.shown[:, ::-1]) for one in layers]


def _layer(candidate: _Candidate, side: int) -> _Layer:
    landmarks = candidate.face.landmarks - np.float32([0.5, 0.5, 0])
    texture = unroll(candidate.picture, landmarks, side)
    facing = visibility(landmarks, candidate.picture.shape[:2])
    small = cv2.resize(texture, (glasses.SIDE, glasses.SIDE), interpolation=cv2.INTER_AREA)
    frame = glasses.find_frame(small)
    if frame is not None and REMOVE:
        texture, small = glasses.remove_frame(texture, frame), glasses.remove_frame(small, frame)
    # Nostrils and the crease of the lips turn away or hide each other, but in pictures they are where they belong.
    shown = cv2.morphologyEx((facing > 0).astype(np.float32), cv2.MORPH_CLOSE, np.ones((CK, CK), np.uint8))
    shown = shown * (inside_oval(FIELD) > 0.008)
    model = learn_skin(small, cv2.resize(facing, (glasses.SIDE, glasses.SIDE)))
    if model is not None:
        hidden = covered(skin_likelihood(small, model))
        wider = cv2.GaussianBlur(cv2.dilate(hidden, np.ones(DK, np.uint8)), (0, 0), DS)
        parts = features(glasses.SIDE)
        hidden = np.maximum(hidden, wider * (1 - parts))
        shown = shown * (1 - cv2.resize(hidden, (FIELD, FIELD), interpolation=cv2.INTER_AREA))
    return _Layer(texture, facing * shown, shown)


def _join(layers: list[_Layer]) -> tuple[Floats, Floats]:
    """Fill the first layer's gaps from the others, each evened to the light of what is there already."""
    texture, facing, shown = layers[0].texture, layers[0].facing, layers[0].shown
    side = texture.shape[0]
    for layer in layers[1:]:
        gain = _evening_gain(texture, facing, layer)
        share = smoothstep(0.05, 0.25, layer.facing - facing) * (1 - smoothstep(*NEED, facing))
        share = cv2.GaussianBlur(share, (0, 0), 1.5) * (layer.facing > 0)
        large = cv2.resize(share, (side, side))[..., None]
        texture = texture * (1 - large) + layer.texture * cv2.resize(gain, (side, side)) * large
        facing = facing * (1 - share) + layer.facing * share
        shown = shown * (1 - share) + layer.shown * share
    # In the middle of the face nothing is beyond the outline: nostrils and lids turn away, yet are the face's own.
    inner = smoothstep(0.06, 0.16, inside_oval(FIELD))
    return texture.astype(np.float32), np.maximum(facing, 0.5 * inner * shown)


def _plain_skin(texture: Floats, facing: Floats) -> Floats:
    """(FIELD, FIELD, 3) smooth skin colour, spread from where plain skin is surely seen over the whole plane."""
    small = cv2.resize(texture, (FIELD, FIELD), interpolation=cv2.INTER_AREA)
    model = learn_skin(small, facing)
    sure = smoothstep(0.25, 0.5, facing) * (1 - features(FIELD))
    if model is not None:
        sure = sure * skin_likelihood(small, model)
    return np.clip(fill(weighted_blur(small, sure + 1e-6, 0.03 * FIELD), smoothstep(0.3, 0.7, sure)), 0, 1)


def _evening_gain(texture: Floats, facing: Floats, layer: _Layer) -> Floats:
    """(FIELD, FIELD, 3) factor for a layer's gamma coded colours so that its light goes on from the texture's."""
    size = (FIELD, FIELD)
    here = np.log(cv2.resize(texture, size, interpolation=cv2.INTER_AREA) + 0.02)
    there = np.log(cv2.resize(layer.texture, size, interpolation=cv2.INTER_AREA) + 0.02)
    both = np.minimum(facing, layer.facing)
    return np.exp(np.clip(weighted_blur(here - there, both, _EVEN * FIELD), -0.7, 0.7)).astype(np.float32)


def _pyramid(texture: Floats) -> tuple[Floats, ...]:
    levels = [np.ascontiguousarray(texture, np.float32)]
    while levels[-1].shape[0] > 64:
        half = levels[-1].shape[0] // 2
        levels.append(cv2.resize(levels[-1], (half, half), interpolation=cv2.INTER_AREA))
    return tuple(levels)
