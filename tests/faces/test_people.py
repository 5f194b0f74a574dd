from collections.abc import Sequence

import numpy as np
import pytest

from mien.errors import NoFaceError
from mien.faces import mesh
from mien.faces.align import rotation_of
from mien.faces.analyser import FaceAnalyser, make_face
from mien.faces.face import Face, Pose
from mien.faces.people import (
    People,
    Sample,
    reference_embedding,
    select_faces,
    select_references,
    tell_apart,
)
from support.moving import still

ANNA, BERT, CARA = (np.eye(128, dtype=np.float32)[i] * 0.6 for i in range(3))
"""Identities .85 apart."""


def face(
    identity: np.ndarray, *, x: float = 300, size: float = 100, yaw: float = 0, score: float = 1.0, wander: float = 0.0
) -> Face:
    shape = mesh.XYZ * [1, -1, -1] @ rotation_of(Pose(yaw, 0, 0)).T * (size / 18) + [x, 200, 0]
    points = np.concatenate([shape, np.zeros((10, 3))]).astype(np.float32)
    generator = np.random.default_rng(round(x * 10))
    noise = generator.normal(size=128).astype(np.float32)
    made = make_face(points, score)
    return Face(made.box, score, points, made.pose, identity + wander * noise / np.linalg.norm(noise))


def samples(*faces_of_frames: Sequence[Face]) -> list[Sample]:
    return [Sample(frame, one) for frame, faces in enumerate(faces_of_frames) for one in faces]


def test_faces_become_people_most_often_seen_first():
    people = tell_apart(
        samples(
            [face(BERT, x=500, wander=0.2)],
            [face(ANNA, x=100, wander=0.2), face(BERT, x=505, wander=0.2)],
            [face(BERT, x=510, wander=0.2)],
            [face(ANNA, x=104, wander=0.2), face(CARA, x=300, wander=0.2)],
        )
    )
    assert [person.seen for person in people.persons] == [3, 2, 1]
    assert [person.rank for person in people.persons] == [2, 0, 1]
    assert [people.match(identity) for identity in (BERT, ANNA, CARA)] == [0, 1, 2]
    assert people.persons[0].first.frame == 0
    assert people.match(np.full(128, 1, np.float32)) is None


def test_two_faces_of_one_frame_are_never_one_person():
    twin = ANNA + BERT * 0.1
    people = tell_apart(samples([face(ANNA, x=100), face(twin, x=500)], [face(ANNA, x=101), face(twin, x=501)]))
    assert [person.seen for person in people.persons] == [2, 2]
    assert people.match(ANNA) != people.match(twin)


def test_poor_views_join_a_person_but_do_not_blur_it():
    people = tell_apart(samples([face(ANNA)], [face(ANNA * 0.5, yaw=70)], [face(ANNA, x=320)]))
    assert [person.seen for person in people.persons] == [3]
    np.testing.assert_allclose(people.persons[0].embedding, ANNA, atol=1e-6)


def test_somebody_seen_only_in_profile_is_a_person_too():
    people = tell_apart(samples([face(ANNA), face(BERT, x=500, yaw=70)]))
    assert len(people.persons) == 2


def test_the_neutral_face_is_free_of_pose_and_of_what_is_rare():
    smiling = face(ANNA, x=300)
    points = smiling.landmarks.copy()
    points[mesh.LIPS_OUTER, 1] -= 8
    rare = Face(smiling.box, 1.0, points, smiling.pose, ANNA)
    people = tell_apart(samples(*[[face(ANNA, x=300, yaw=yaw)] for yaw in (-30, -10, 0, 20)], [rare]))
    np.testing.assert_allclose(people.neutral_of(0), mesh.XYZ, atol=0.05)


def test_nobody_is_nobody():
    assert tell_apart([]) == People(())
    assert People(()).match(ANNA) is None


def test_a_sample_needs_an_embedding():
    with pytest.raises(ValueError, match="embedded"):
        _ = Sample(0, make_face(face(ANNA).landmarks, 1.0)).embedding


@pytest.fixture
def trio() -> People:
    """Bert (0, on the right, seen most), Anna (1, on the left, largest), Cara (2, in the middle)."""
    one = [face(ANNA, x=100, size=160), face(BERT, x=500), face(CARA, x=300)]
    two = [face(ANNA, x=102, size=160), face(BERT, x=500)]
    return tell_apart(samples(one, two, [face(BERT, x=505)]))


@pytest.mark.parametrize(
    ("faces", "sources", "unknown"),
    [
        ("all", (0, 0, 0), 0),
        ("largest", (None, 0, None), None),
        ("0", (None, 0, None), None),
        ("1", (None, None, 0), None),
        ("2", (0, None, None), None),
    ],
)
def test_the_recipe_says_whose_face_is_replaced(trio: People, faces: str, sources: tuple, unknown: int | None):
    selection = select_faces(trio, faces)
    assert selection.sources == sources
    assert [selection.source_for(person) for person in range(3)] == list(sources)
    assert selection.source_for(None) == unknown


def test_a_number_too_high_says_how_many_there_are(trio: People):
    with pytest.raises(NoFaceError, match="no face number 3: the target has 3"):
        select_faces(trio, "3")


def test_in_a_target_without_faces_nobody_is_chosen():
    for faces in ("largest", "5"):
        assert select_faces(People(()), faces).sources == ()
    assert select_references(People(()), [("a.jpg", ANNA)]).unknown is None


def test_references_choose_who_gets_which_source(trio: People):
    swapped = select_references(trio, [("cara.jpg", CARA * 0.9), ("bert.jpg", BERT * 0.9)])
    assert swapped.sources == (1, None, 0)
    assert swapped.unknown is None


def test_who_is_near_two_references_goes_to_the_nearer(trio: People):
    between = (CARA + ANNA) / 2
    selection = select_references(trio, [("anna.jpg", ANNA), ("between.jpg", between)])
    assert selection.sources == (None, 0, 1)


def test_a_reference_of_nobody_says_how_far_everybody_is(trio: People):
    stranger = np.eye(128, dtype=np.float32)[9] * 0.8
    with pytest.raises(NoFaceError, match=r"nobody in the target is the person in who\.jpg: .*1\.00, 1\.00, 1\.00"):
        select_references(trio, [("anna.jpg", ANNA), ("who.jpg", stranger)])


def test_the_distance_decides(trio: People):
    far = BERT + ANNA * 0.5
    assert select_references(trio, [("b.jpg", far)], bound=0.4).sources == (0, None, None)
    with pytest.raises(NoFaceError, match=r"larger .reference_distance"):
        select_references(trio, [("b.jpg", far)], bound=0.2)


def test_a_reference_picture_gives_its_largest_face(analyser: FaceAnalyser):
    image = still("astronaut")
    (found,) = analyser.find(image)
    np.testing.assert_allclose(
        reference_embedding("astronaut.png", image, analyser), analyser.embed(image, [found])[0], atol=1e-5
    )


def test_a_reference_without_a_face_is_named(analyser: FaceAnalyser):
    with pytest.raises(NoFaceError, match=r"no face in the reference wall\.png"):
        reference_embedding("wall.png", np.full((200, 300, 3), 128, np.uint8), analyser)
