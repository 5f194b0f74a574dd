"""Who plays whom: from the recipe's wishes and the people in the target to a role for each face."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mien.errors import NoFaceError
from mien.faces.face import TrackedFace
from mien.faces.people import People, select_faces, select_references
from mien.recipe import Recipe

RoleOf = Callable[[TrackedFace, Sequence[TrackedFace]], int | None]
"""From a face and all faces of its frame to the number of its role, or None if it stays as it is."""

References = Sequence[tuple[str, NDArray[np.float32]]]
"""Name and (128,) identity embedding of each reference picture, in the order of the roles."""


def cast_people(recipe: Recipe, people: People, references: References) -> RoleOf:
    """Roles for a target that was surveyed: a person plays the same role from beginning to end.

    Somebody who was not seen in the survey plays a role if everybody does, or if a reference shows them.

    Raises:
        NoFaceError: nobody in the target is the one asked for.
    """
    if not people.persons and (references or recipe.faces != "all"):
        raise NoFaceError(f"{recipe.target} shows no face, so nobody in it can be chosen: name another target")
    if references:
        selection = select_references(people, references, recipe.reference_distance)
        strangers = like_references(references, recipe.reference_distance)
    else:
        selection = select_faces(people, recipe.faces)
        strangers = everyone if recipe.faces == "all" else nobody

    def role_of(face: TrackedFace, faces: Sequence[TrackedFace]) -> int | None:
        return strangers(face, faces) if face.person is None else selection.source_for(face.person)

    return role_of


def cast_live(recipe: Recipe, references: References) -> RoleOf:
    """Roles for a stream whose people are not known before: each frame decides for itself."""
    if references:
        return like_references(references, recipe.reference_distance)
    if recipe.faces == "all":
        return everyone
    return the_largest if recipe.faces == "largest" else from_the_left(int(recipe.faces))


def everyone(_face: TrackedFace, _faces: Sequence[TrackedFace]) -> int | None:
    """All faces play the first role."""
    return 0


def nobody(_face: TrackedFace, _faces: Sequence[TrackedFace]) -> int | None:
    """No face plays a role."""
    return None


def the_largest(face: TrackedFace, faces: Sequence[TrackedFace]) -> int | None:
    """The frame's largest face plays the first role."""
    return 0 if face is max(faces, key=_area) else None


def from_the_left(place: int) -> RoleOf:
    """The face at `place` (0 = leftmost) in the frame plays the first role."""

    def role_of(face: TrackedFace, faces: Sequence[TrackedFace]) -> int | None:
        ordered = sorted(faces, key=_middle)
        return 0 if place < len(ordered) and face is ordered[place] else None

    return role_of


def like_references(references: References, limit: float) -> RoleOf:
    """A face plays the role of the reference it is nearest to, if its identity distance is under `limit`."""

    def role_of(face: TrackedFace, _faces: Sequence[TrackedFace]) -> int | None:
        embedding = face.face.embedding
        if embedding is None:
            return None
        distances = [float(np.linalg.norm(embedding - reference)) for _, reference in references]
        nearest = min(range(len(distances)), key=distances.__getitem__)
        return nearest if distances[nearest] < limit else None

    return role_of


def _area(face: TrackedFace) -> float:
    left, top, right, bottom = face.face.box
    return float((right - left) * (bottom - top))


def _middle(face: TrackedFace) -> float:
    return float(face.face.box[0] + face.face.box[2])
