"""Who a person is to the field's swappers, from pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.errors import NoFaceError
from mien.faces.face import Face
from mien.models.families.alignment import cut_faces
from mien.models.families.arcface import ArcFace
from mien.models.families.identity import Identity
from mien.models.families.landmark_sets import five_of_mesh
from mien.models.families.templates import Template

Pixels = NDArray[np.uint8]
Pictures = Sequence[tuple[str, Pixels]]
"""Name (for messages) and upright RGB (height, width, 3) of each."""
Find = Callable[[Pixels], Sequence[Face]]
"""Every face of a picture, largest first."""


def identify(pictures: Pictures, find: Find, recogniser: ArcFace) -> Identity:
    """Who the pictures show: the largest face of each, averaged.

    Raises:
        NoFaceError: none shows a face.
        EngineError: the recogniser failed.
    """
    crops = list(_crops(pictures, find, recogniser.template, recogniser.size))
    return Identity.average(recogniser.embed(np.stack(crops)))


def portrait(pictures: Pictures, find: Find, template: Template, size: int) -> NDArray[Any]:
    """(size, size, 3) RGB uint8: the largest face of the first picture that shows one, aligned.

    Raises:
        NoFaceError: none shows a face.
    """
    return next(_crops(pictures, find, template, size))


def _crops(pictures: Pictures, find: Find, template: Template, size: int) -> Iterator[NDArray[Any]]:
    found = False
    for _, pixels in pictures:
        if faces := find(pixels)[:1]:
            found = True
            yield cut_faces(pixels, [five_of_mesh(faces[0].landmarks)], template, size)[0][0]
    if not found:
        names = ", ".join(name for name, _ in pictures)
        raise NoFaceError(f"no face in {names}: give a picture that shows the person's face clearly")
