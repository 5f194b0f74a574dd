"""The person whose face appears: pictures made into one texture, one shape, one identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.edit import fitness, shape, texture
from mien.edit.raster import Floats
from mien.errors import NoFaceError, UnfitSourceError
from mien.faces.align import to_canonical
from mien.faces.face import Face

SAME_PERSON = 0.6
"""Euclidean distance of two embeddings of the bundled identity net under which they show one person."""


class SourceAnalyser(Protocol):
    """What is asked of the face analyser here."""

    def find(self, picture: NDArray[np.uint8], /) -> list[Face]:
        """Every face, largest first."""
        ...

    def embed(self, picture: NDArray[np.uint8], faces: Sequence[Face], /) -> Floats:
        """(n, 128) identity embeddings."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePerson:
    """Who pictures show."""

    embedding: Floats
    """(128,) mean identity embedding."""
    warnings: tuple[str, ...] = ()
    """Pictures that were left out and why, and those in which one face of several was taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFace(SourcePerson):
    """One person, ready to be drawn onto others."""

    textures: tuple[Floats, ...]
    """(side, side, 3) gamma coded RGB 0..1 on the texture plane, each half the side of the one before."""
    skin: Floats
    """(FIELD, FIELD, 3) the person's plain skin without any detail, also where the pictures do not show it."""
    facing: Floats
    """(FIELD, FIELD) how squarely the pictures show each texel, 0..1; 0 = nothing is known there."""
    shape: Floats
    """(468, 3) the person's neutral face in the canonical mesh's axes (cm)."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    picture: NDArray[np.uint8]
    face: Face
    embedding: Floats
    faces: int
    """How many the picture shows."""


def know_source(pictures: Sequence[tuple[str, NDArray[np.uint8]]], analyser: SourceAnalyser) -> SourcePerson:
    """As `build_source`, for those who do not draw the person: much cheaper."""
    candidates, warnings = _choose(pictures, analyser)
    return SourcePerson(embedding=_mean_embedding(candidates), warnings=warnings)


def build_source(pictures: Sequence[tuple[str, NDArray[np.uint8]]], analyser: SourceAnalyser) -> SourceFace:
    """Make one person of one or more pictures; the largest face of each is taken.

    Pictures that cannot be used, or show another person than most do, are left out with a warning.

    Args:
        pictures: Name (for messages) and upright RGB (height, width, 3) of each.
        analyser: Finds faces and tells identities.

    Raises:
        NoFaceError: no picture shows a face.
        UnfitSourceError: no picture can be used; the message has the reason for each.
        ValueError: no pictures were given.
    """
    candidates, warnings = _choose(pictures, analyser)
    joined = texture.join([texture.layer(one.picture, one.face.landmarks) for one in candidates])
    neutral = np.mean([shape.neutral(to_canonical(one.face.landmarks)) for one in candidates], axis=0)
    return SourceFace(
        textures=texture.pyramid(joined.texture),
        skin=joined.skin,
        facing=joined.facing,
        shape=neutral.astype(np.float32),
        embedding=_mean_embedding(candidates),
        warnings=warnings,
    )


def _choose(
    pictures: Sequence[tuple[str, NDArray[np.uint8]]], analyser: SourceAnalyser
) -> tuple[list[_Candidate], tuple[str, ...]]:
    """The pictures that are used, one at least, and what there is to say of them and the others."""
    if not pictures:
        raise ValueError("a source needs at least one picture")
    candidates, troubles, faceless = _examine(pictures, analyser)
    if not candidates:
        kind = NoFaceError if faceless else UnfitSourceError
        raise kind(f"no usable source picture: {'; '.join(troubles)}")
    candidates, strangers = _one_person(candidates)
    several = (
        f"source picture {one.name} shows {one.faces} faces, the largest is taken: crop it to use another"
        for one in candidates
        if one.faces > 1
    )
    return candidates, (*(f"source picture left out: {trouble}" for trouble in troubles + strangers), *several)


def _mean_embedding(candidates: Sequence[_Candidate]) -> Floats:
    return np.mean([one.embedding for one in candidates], axis=0).astype(np.float32)


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
        candidates.append(_Candidate(name, picture, face, analyser.embed(picture, [face])[0], len(faces)))
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
