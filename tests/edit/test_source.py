"""Sources: what is refused, what is left out, what several pictures add."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from mien.edit.source import build_source, know_source
from mien.errors import NoFaceError, UnfitSourceError
from support.animate import Actor, Clip, Motion, Scene, constant
from support.people import analyser, picture, still
from support.swapping import face_of, source

Pixels = NDArray[np.uint8]


def covered_by_a_mask(name: str) -> Pixels:
    image, points = picture(name).copy(), face_of(name).landmarks
    corners = points[[234, 197, 454, 365, 152, 136], :2]
    cv2.fillPoly(image, [np.round(corners).astype(np.int32)], (40, 70, 160))
    return image


def small(name: str) -> Pixels:
    return cv2.resize(picture(name), None, fx=0.1, fy=0.1, interpolation=cv2.INTER_AREA)


def test_a_picture_without_a_face_is_named() -> None:
    with pytest.raises(NoFaceError, match=r"wall\.png shows no face"):
        build_source([("wall.png", np.full((300, 300, 3), 120, np.uint8))], analyser())


def test_no_pictures_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="at least one picture"):
        build_source([], analyser())


def test_a_blurred_face_is_refused() -> None:
    blurred = cv2.GaussianBlur(picture("grace_hopper"), (0, 0), 9)
    with pytest.raises(UnfitSourceError, match=r"soft\.jpg is unfit: the face is blurred"):
        build_source([("soft.jpg", blurred)], analyser())


def test_a_tiny_face_is_refused() -> None:
    with pytest.raises(UnfitSourceError, match=r"far\.jpg is unfit: the face is tiny"):
        build_source([("far.jpg", small("grace_hopper"))], analyser())


def test_a_covered_face_is_refused() -> None:
    with pytest.raises(UnfitSourceError, match=r"mask\.jpg is unfit: the face is covered"):
        build_source([("mask.jpg", covered_by_a_mask("grace_hopper"))], analyser())


def test_unfit_pictures_of_several_are_left_out_with_a_warning() -> None:
    pictures = [
        ("good.jpg", picture("grace_hopper")),
        ("soft.jpg", cv2.GaussianBlur(picture("grace_hopper"), (0, 0), 9)),
        ("wall.png", np.full((300, 300, 3), 120, np.uint8)),
    ]
    made = build_source(pictures, analyser())
    assert len(made.warnings) == 2
    assert "soft.jpg" in made.warnings[0]
    assert "wall.png" in made.warnings[1]
    np.testing.assert_array_equal(made.embedding, source("grace_hopper").embedding)


def test_a_stranger_among_the_pictures_is_named_and_left_out() -> None:
    hopper = picture("grace_hopper")
    pictures = [("stranger.png", picture("astronaut")), ("one.jpg", hopper), ("two.jpg", hopper[:, ::-1].copy())]
    made = build_source(pictures, analyser())
    assert len(made.warnings) == 1
    assert "stranger.png shows another person" in made.warnings[0]
    assert np.linalg.norm(made.embedding - source("grace_hopper").embedding) < 0.3


def test_of_several_people_in_a_picture_the_largest_is_taken_and_that_is_said() -> None:
    near, far = picture("astronaut"), picture("grace_hopper")
    far = cv2.resize(far, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    both = np.zeros((max(len(near), len(far)), near.shape[1] + far.shape[1], 3), np.uint8)
    both[: len(near), : near.shape[1]] = near
    both[: len(far), near.shape[1] :] = far
    made = build_source([("both.png", both)], analyser())
    largest = max(analyser().find(both), key=lambda face: face.box[3] - face.box[1])
    assert np.linalg.norm(made.embedding - analyser().embed(both, [largest])[0]) < 0.1
    (warning,) = made.warnings
    assert "both.png shows 2 faces" in warning
    known = know_source([("both.png", both)], analyser())
    assert known.warnings == made.warnings
    assert np.array_equal(known.embedding, made.embedding)


def test_the_order_of_pictures_does_not_matter() -> None:
    hopper = picture("grace_hopper")
    pictures = [("one.jpg", hopper), ("two.jpg", np.clip(hopper * 0.8, 0, 255).astype(np.uint8))]
    ahead, back = build_source(pictures, analyser()), build_source(pictures[::-1], analyser())
    np.testing.assert_allclose(ahead.shape, back.shape, atol=1e-5)
    np.testing.assert_allclose(ahead.embedding, back.embedding, atol=1e-5)
    np.testing.assert_allclose(ahead.facing, back.facing, atol=0.05)


def test_a_second_view_shows_what_the_first_one_hides() -> None:
    lone = source("luispedro")
    view = picture("luispedro")
    pair = build_source([("one.jpg", view), ("other.jpg", view[:, ::-1].copy())], analyser())
    assert pair.facing.sum() >= 0.98 * lone.facing.sum()
    assert not pair.warnings


def test_hair_on_the_forehead_is_no_skin() -> None:
    made = source("astronaut")
    texture, side = made.textures[0], made.textures[0].shape[0]
    forehead = texture[int(0.1 * side) : int(0.2 * side), int(0.4 * side) : int(0.6 * side)].reshape(-1, 3)
    cheek = texture[int(0.5 * side) : int(0.58 * side), int(0.28 * side) : int(0.36 * side)].reshape(-1, 3)
    hues = [np.log(part[:, 0].mean() / part[:, 2].mean()) for part in (forehead, cheek)]
    assert abs(hues[0] - hues[1]) < 0.15
    assert forehead.std(axis=0).max() < 0.05
    # What was hidden counts as unknown.
    assert made.facing[10:18, 38:58].max() < 0.2


def test_a_profile_is_refused() -> None:
    scene = Scene(
        width=480, height=480, actors=(Actor(still("grace_hopper"), Motion(yaw=constant(60.0)), 0.5),), frames=1
    )
    with pytest.raises(UnfitSourceError, match=r"side\.jpg is unfit: the head is turned"):
        build_source([("side.jpg", Clip(scene)[0].picture)], analyser())
