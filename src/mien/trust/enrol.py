"""From pictures of a person to the embeddings that a record keeps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from mien.errors import UnfitSourceError
from mien.faces.analyser import FaceAnalyser
from mien.faces.people import reference_embedding
from mien.media.pictures import read_rgb
from mien.models.dlib_identity import SAME_PERSON_DISTANCE
from mien.trust.people import Embedding, distance


def faces_of(pictures: Sequence[Path], analyser: FaceAnalyser) -> tuple[Embedding, ...]:
    """The largest face of each picture, which have to be one person's.

    Raises:
        UnreadableError: a picture cannot be read.
        NoFaceError: one shows no face.
        UnfitSourceError: two show different people.
    """
    faces = tuple(reference_embedding(str(path), read_rgb(path), analyser) for path in pictures)
    for (one, first), (other, second) in itertools.combinations(zip(pictures, faces, strict=True), 2):
        if (gap := distance(first, second)) >= SAME_PERSON_DISTANCE:
            raise UnfitSourceError(
                f"{one} and {other} show different people (identity distance {gap:.2f}): give pictures of one person, "
                "cropped to that person where there are several"
            )
    return faces
