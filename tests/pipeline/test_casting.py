"""Who plays whom."""

from __future__ import annotations

import numpy as np
import pytest

from mien.errors import NoFaceError
from mien.faces.face import TrackedFace
from mien.faces.people import People, Person
from mien.pipeline.casting import cast_live, cast_people
from mien.recipe import Recipe
from support.doubles import tracked


def direction(number: int, length: float = 1.0) -> np.ndarray:
    """An identity as far from all others as `length` allows."""
    embedding = np.zeros(128, np.float32)
    embedding[number] = length
    return embedding


def person(index: int, *, size: float, rank: int) -> Person:
    return Person(
        index=index,
        embedding=direction(index),
        neutral=np.zeros((468, 3), np.float32),
        size=size,
        rank=rank,
        seen=1,
        first=None,  # type: ignore[arg-type]
    )


PEOPLE = People((person(0, size=50, rank=2), person(1, size=90, rank=0), person(2, size=70, rank=1)))
NOBODY = People(())


def recipe(**fields: object) -> Recipe:
    return Recipe.from_mapping({"target": "t", "output": "o", "sources": ["s"], **fields})


def face(person: int | None, x: float = 0.0, size: float = 10.0, identity: np.ndarray | None = None) -> TrackedFace:
    base = tracked(x, 0, size=size, person=person)
    shown = type(base.face)(base.face.box, 1.0, base.face.landmarks, base.face.pose, identity)
    return TrackedFace(shown, 0, person, None, 1.0, False)


@pytest.mark.parametrize(
    ("faces", "roles"),
    [
        ("all", [0, 0, 0, 0]),
        ("largest", [None, 0, None, None]),
        ("0", [None, 0, None, None]),
        ("2", [0, None, None, None]),
    ],
)
def test_people_are_chosen_by_size_and_place(faces: str, roles: list[int | None]) -> None:
    role_of = cast_people(recipe(faces=faces), PEOPLE, [])
    shown = [face(0), face(1), face(2), face(None)]
    assert [role_of(one, shown) for one in shown] == roles


def test_a_place_where_nobody_is_says_how_many_there_are() -> None:
    with pytest.raises(NoFaceError, match="number 3: the target has 3"):
        cast_people(recipe(faces="3"), PEOPLE, [])


@pytest.mark.parametrize("options", [{"faces": "largest"}, {"faces": "0"}, {"reference": "r"}], ids=str)
def test_nobody_can_be_chosen_where_nobody_is(options: dict[str, str]) -> None:
    references = [("r", direction(1))] if "reference" in options else []
    with pytest.raises(NoFaceError, match="shows no face"):
        cast_people(recipe(**options), NOBODY, references)


def test_everyone_needs_nobody() -> None:
    assert cast_people(recipe(), NOBODY, [])(face(None), []) == 0


def test_references_choose_people_and_strangers_who_resemble_them() -> None:
    references = [("a", direction(2)), ("b", direction(0))]
    role_of = cast_people(recipe(reference="a"), PEOPLE, references)
    assert [role_of(face(index), []) for index in range(3)] == [1, None, 0]
    near, far = direction(2) + direction(5, 0.3), direction(5)
    assert role_of(face(None, identity=near), []) == 0
    assert role_of(face(None, identity=far), []) is None
    assert role_of(face(None), []) is None


def test_a_reference_of_nobody_is_named() -> None:
    with pytest.raises(NoFaceError, match=r"stranger\.png"):
        cast_people(recipe(reference="stranger.png"), PEOPLE, [("stranger.png", direction(9))])


def test_a_live_stream_decides_frame_by_frame() -> None:
    shown = [face(None, x=50, size=30), face(None, x=10, size=20), face(None, x=90, size=10)]
    chosen = {
        faces: [cast_live(recipe(faces=faces), [])(one, shown) for one in shown]
        for faces in ("all", "largest", "0", "5")
    }
    assert chosen == {"all": [0, 0, 0], "largest": [0, None, None], "0": [None, 0, None], "5": [None, None, None]}
    role_of = cast_live(recipe(reference="r"), [("r", direction(1))])
    assert [role_of(face(None, identity=direction(n)), []) for n in (0, 1)] == [None, 0]
