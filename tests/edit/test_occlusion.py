"""What lies over the target's face stays over it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from mien.edit.memory import RememberedLook
from mien.edit.skin import look_of
from mien.edit.swap import GeometricSwap
from mien.edit.topology import FIELD
from mien.edit.unroll import unroll, visibility
from mien.quality.metrics import face_mask
from support.animate import Clip
from support.people import picture, still
from support.scenes import covered
from support.swapping import Pixels, face_of, portrait, source, swap_clip, swap_face, tracked

SHIFT = np.array([0.5, 0.5, 0], np.float32)


def change(before: Pixels, after: Pixels) -> np.ndarray:
    return np.abs(before.astype(float) - after).mean(axis=2)


@pytest.mark.slow
def test_a_microphone_passes_in_front() -> None:
    clip = Clip(covered(still("astronaut"), width=360, height=270, seconds=1.2, size=0.6, with_microphone=True))
    frames = list(clip)
    result = swap_clip(clip, "luispedro", shape=0.0)
    kept, edited = [], []
    for frame, after in zip(frames, result, strict=True):
        truth = frame.faces[0].landmarks
        if truth is None or frame.occluder is None or frame.index < 8:
            continue
        inside = face_mask(truth, 360, 270)
        over, free = inside & (frame.occluder > 0.95), inside & (frame.occluder < 0.05)
        if over.sum() > 0.1 * inside.sum():
            difference = change(frame.picture, after)
            kept.append(difference[over].mean())
            edited.append(difference[free].mean())
    assert len(kept) >= 5
    assert np.mean(kept) < 0.3 * np.mean(edited)


def test_hair_over_the_forehead_stays() -> None:
    image, face = picture("astronaut"), face_of("astronaut")
    result = swap_face(image, tracked(face), GeometricSwap(source("grace_hopper"), shape=0.0))
    points = face.landmarks[[10, 151], :2]
    top, bottom = points[0], points[1]
    fringe = np.s_[int(top[1]) - 2 : int(0.6 * top[1] + 0.4 * bottom[1]), int(top[0]) - 12 : int(top[0]) + 12]
    cheek = np.s_[int(face.landmarks[50, 1]) - 5 :, int(face.landmarks[50, 0]) - 5 :]
    difference = change(image, result)
    assert difference[fringe].mean() < 3
    assert difference[cheek][:10, :10].mean() > 10


@pytest.mark.parametrize("colour", [(20, 20, 25), (200, 40, 60), (235, 235, 240)])
def test_a_cap_over_the_forehead_stays(colour: tuple[int, int, int]) -> None:
    image, face = picture("luispedro").copy(), face_of("luispedro")
    brim = face.landmarks[[10, 151], 1].mean()
    inside = face_mask(face.landmarks, image.shape[1], image.shape[0])
    above = np.arange(image.shape[0])[:, None] < brim
    cap = above & (cv2.dilate(inside.astype(np.uint8), np.ones((41, 41), np.uint8)) > 0)
    image[cap] = colour
    result = swap_face(image, tracked(face), GeometricSwap(source("grace_hopper"), shape=0.0))
    well_above = np.arange(image.shape[0])[:, None] < brim - 5
    assert (inside & cap & well_above).sum() > 500
    assert change(image, result)[inside & cap & well_above].mean() < 4
    assert change(image, result)[inside & ~above].mean() > 10


def views(name: str) -> tuple[np.ndarray, np.ndarray]:
    points = face_of(name).landmarks[:468] - SHIFT
    image = portrait(name)
    return unroll(image, points, FIELD), visibility(points, image.shape[:2])


def remembering(name: str, frames: int = 10) -> tuple[RememberedLook, np.ndarray, np.ndarray]:
    texture, facing = views(name)
    noise = np.random.default_rng(1)
    memory = RememberedLook()
    for _ in range(frames):
        memory.compare(look_of((texture + noise.normal(0, 0.01, texture.shape)).astype(np.float32)), facing)
    return memory, texture, facing


def test_nothing_changes_while_nothing_comes_in_front() -> None:
    memory, texture, facing = remembering("grace_hopper")
    assert memory.compare(look_of(texture), facing).change.mean() < 0.005


@pytest.mark.parametrize("colour", [(0.1, 0.1, 0.1), (0.9, 0.9, 0.95), (0.2, 0.5, 0.8)])
def test_a_bar_in_front_is_noticed_at_once(colour: tuple[float, float, float]) -> None:
    memory, texture, facing = remembering("grace_hopper")
    bar = np.s_[52:62, 20:76]
    texture[bar] = colour
    change = memory.compare(look_of(texture), facing).change
    seen = facing[bar] > 0.3
    assert change[bar][seen].mean() > 0.75
    assert change[20:45].mean() < 0.05


def test_light_that_changes_is_not_taken_for_a_thing() -> None:
    memory, texture, facing = remembering("luispedro")
    across = np.linspace(-1, 1, FIELD, dtype=np.float32)[None, :, None]
    for step in range(1, 11):
        lit = texture * (1 - 0.03 * step) * (1 + 0.02 * step * across)
        assert memory.compare(look_of(lit.astype(np.float32)), facing).change.mean() < 0.02


def test_a_flash_is_not_taken_for_a_thing() -> None:
    memory, texture, facing = remembering("luispedro")
    assert memory.compare(look_of((texture * 0.5).astype(np.float32)), facing).change.mean() < 0.06
