"""What the swapper must leave alone, and what must not make a difference."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from mien.edit.swap import GeometricSwap
from mien.faces.analyser import make_face
from mien.geometry import Rect
from mien.quality.metrics import face_mask, psnr
from support.people import analyser, picture
from support.swapping import as_pixels, as_working, face_of, source, swap_face, tracked

Pixels = NDArray[np.uint8]


@pytest.fixture
def effect() -> GeometricSwap:
    return GeometricSwap(source("astronaut"))


def moved(face_name: str, shift: tuple[float, float]):
    landmarks = face_of(face_name).landmarks + np.array([*shift, 0], np.float32)
    return tracked(make_face(landmarks, 1.0))


def test_the_rim_of_the_rectangle_is_equal_bit_for_bit(effect: GeometricSwap) -> None:
    image, face = picture("grace_hopper"), tracked(face_of("grace_hopper"))
    rect = effect.rect(face, image.shape[1], image.shape[0])
    patch = as_working(image[rect.slices])
    edited = effect.edit(patch, rect, face, [])
    same = (edited == patch).all(axis=2)
    assert same[[0, -1]].all()
    assert same[:, [0, -1]].all()
    assert not same.all()


def test_the_patch_is_not_written_to(effect: GeometricSwap) -> None:
    image, face = picture("grace_hopper"), tracked(face_of("grace_hopper"))
    rect = effect.rect(face, image.shape[1], image.shape[0])
    patch = as_working(image[rect.slices])
    before = patch.copy()
    edited = effect.edit(patch, rect, face, [])
    np.testing.assert_array_equal(patch, before)
    assert edited.dtype == np.float32


def test_a_larger_rectangle_gives_the_same_picture(effect: GeometricSwap) -> None:
    image, face = picture("grace_hopper"), tracked(face_of("grace_hopper"))
    rect = effect.rect(face, image.shape[1], image.shape[0])
    larger = Rect(rect.x - 3, rect.y - 6, rect.width + 8, rect.height + 9)
    results = []
    for one in (rect, larger):
        result = image.copy()
        result[one.slices] = as_pixels(effect.edit(as_working(image[one.slices]), one, face, []))
        results.append(result)
    assert psnr(*results) > 38


def test_fade_decides_how_much_shows(effect: GeometricSwap) -> None:
    image, face = picture("grace_hopper"), face_of("grace_hopper")
    none, half, full = (swap_face(image, tracked(face, fade=fade), effect) for fade in (0.0, 0.5, 1.0))
    np.testing.assert_array_equal(none, image)
    change = [float(np.abs(one.astype(int) - image).mean()) for one in (half, full)]
    assert 0.25 * change[1] < change[0] < 0.85 * change[1]


def test_swapping_a_person_with_themselves_changes_little() -> None:
    image, face = picture("grace_hopper"), face_of("grace_hopper")
    result = swap_face(image, tracked(face), GeometricSwap(source("grace_hopper")))
    inside = face_mask(face.landmarks, image.shape[1], image.shape[0])
    assert psnr(image, result, inside) > 27
    embeddings = [analyser().embed(one, [face])[0] for one in (image, result)]
    assert np.linalg.norm(embeddings[0] - embeddings[1]) < 0.25


def test_tracks_do_not_influence_each_other(effect: GeometricSwap) -> None:
    image = picture("grace_hopper")
    first, second = tracked(face_of("grace_hopper"), track=1), moved("grace_hopper", (2.0, 3.0))
    second = replace(second, track=2)
    alone = swap_face(image, second, GeometricSwap(source("astronaut")))
    swap_face(image, first, effect)
    np.testing.assert_array_equal(swap_face(image, second, effect), alone)


def test_a_fresh_face_forgets_what_was_before(effect: GeometricSwap) -> None:
    image, face = picture("grace_hopper"), tracked(face_of("grace_hopper"))
    for shade in (0.5, 0.7, 0.9):
        swap_face((image * shade).astype(np.uint8), replace(face, fresh=False), effect)
    again = swap_face(image, face, effect)
    np.testing.assert_array_equal(again, swap_face(image, face, GeometricSwap(source("astronaut"))))


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turned_picture_gives_the_turned_result(effect: GeometricSwap, quarters: int) -> None:
    image, face = picture("grace_hopper"), face_of("grace_hopper")
    upright = swap_face(image, tracked(face), effect)
    points = face.landmarks.copy()
    for turn in range(quarters):
        width = image.shape[1] if turn % 2 == 0 else image.shape[0]
        points[:, 0], points[:, 1] = points[:, 1].copy(), width - points[:, 0]
    turned = np.ascontiguousarray(np.rot90(image, quarters))
    result = swap_face(turned, tracked(make_face(points, 1.0)), effect)
    back = np.ascontiguousarray(np.rot90(result, -quarters))
    inside = face_mask(face.landmarks, image.shape[1], image.shape[0])
    assert psnr(upright, back, inside) > 32


@pytest.mark.parametrize("shift", [(-260.0, 0.0), (260.0, 0.0), (0.0, -250.0), (0.0, 330.0), (-300.0, -280.0)])
def test_a_face_partly_out_of_the_frame_is_edited_inside_it(effect: GeometricSwap, shift: tuple[float, float]) -> None:
    image = picture("grace_hopper")
    matrix = np.array([[1, 0, shift[0]], [0, 1, shift[1]]], np.float32)
    shifted = cv2.warpAffine(image, matrix, (image.shape[1], image.shape[0]), borderMode=cv2.BORDER_REPLICATE)
    result = swap_face(shifted, moved("grace_hopper", shift), effect)
    assert result.shape == image.shape
    assert np.isfinite(result).all()


def test_values_above_white_are_kept_where_nothing_changes_and_made_where_the_target_is_bright(
    effect: GeometricSwap,
) -> None:
    image, face = picture("grace_hopper"), tracked(face_of("grace_hopper"))
    rect = effect.rect(face, image.shape[1], image.shape[0])
    bright = 1.6 * as_working(image[rect.slices])
    edited = effect.edit(bright, rect, face, [])
    same = (edited == bright).all(axis=2)
    assert (bright[same] > 1).any()
    inside = face_mask(face.face.landmarks, image.shape[1], image.shape[0])[rect.slices]
    usual = effect.edit(as_working(image[rect.slices]), rect, face, [])
    assert edited[inside].mean() == pytest.approx(1.6 * usual[inside].mean(), rel=0.06)


def test_a_nearer_face_stays_in_front() -> None:
    image, face = picture("grace_hopper"), tracked(face_of("grace_hopper"))
    landmarks = face.face.landmarks
    middle = landmarks[:468].mean(axis=0)
    near = (landmarks - middle) * np.float32(1.2) + middle + np.array([70, 0, 0], np.float32)
    other = replace(tracked(make_face(near.astype(np.float32), 1.0)), track=7)
    flat = GeometricSwap(source("astronaut"), shape=0.0)
    result = swap_face(image, face, flat, [other])
    hidden = face_mask(near, image.shape[1], image.shape[0])
    hidden = cv2.erode(hidden.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    assert np.abs(result[hidden].astype(int) - image[hidden]).max() <= 1
    assert np.abs(swap_face(image, face, flat)[hidden].astype(int) - image[hidden]).max() > 30


def test_the_targets_light_falls_on_the_source() -> None:
    image, face = picture("astronaut"), tracked(face_of("astronaut"))
    swap = GeometricSwap(source("luispedro"))
    width = image.shape[1]
    centre = float(face.face.landmarks[1, 0])
    slope = np.clip(1 + 0.012 * (np.arange(width) - centre), 0.4, 1.6)[None, :, None]
    lit = np.clip(image * slope * 0.7, 0, 255).astype(np.uint8)
    plain, shaded = (swap_face(one, face, swap).astype(float) for one in (image, lit))
    cheeks = [np.s_[int(y) - 3 : int(y) + 4, int(x) - 3 : int(x) + 4] for x, y in face.face.landmarks[[50, 280], :2]]
    ratios = [float(shaded[one].mean() / plain[one].mean()) for one in cheeks]
    expected = [float(lit[one].mean() / image[one].mean()) for one in cheeks]
    assert ratios[1] / ratios[0] == pytest.approx(expected[1] / expected[0], rel=0.25)
    assert ratios[1] > ratios[0] * 1.2


def test_a_picture_without_colour_stays_without(effect: GeometricSwap) -> None:
    image, face = picture("grace_hopper"), tracked(face_of("grace_hopper"))
    grey = np.repeat(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)
    result = swap_face(grey, face, effect)
    assert np.ptp(result.astype(int), axis=2).max() <= 1
    assert np.abs(result.astype(int) - grey).max() > 30


@pytest.mark.parametrize("width", [14, 40, 700])
def test_faces_of_any_size_are_edited(effect: GeometricSwap, width: int) -> None:
    image, face = picture("grace_hopper"), face_of("grace_hopper")
    scale = np.float32(width / np.ptp(face.landmarks[:468, 0]))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    resized = cv2.resize(image, None, fx=float(scale), fy=float(scale), interpolation=how)
    result = swap_face(resized, tracked(make_face(face.landmarks * scale, 1.0)), effect)
    inside = face_mask(face.landmarks * scale, resized.shape[1], resized.shape[0])
    change = np.abs(result.astype(int) - resized).mean(axis=2)
    assert change[inside].mean() > 5


@pytest.mark.parametrize("level", [0, 255])
def test_flat_pictures_do_no_harm(effect: GeometricSwap, level: int) -> None:
    flat = np.full_like(picture("grace_hopper"), level)
    face = tracked(face_of("grace_hopper"))
    rect = effect.rect(face, flat.shape[1], flat.shape[0])
    assert np.isfinite(effect.edit(as_working(flat[rect.slices]), rect, face, [])).all()
