from collections.abc import Callable

import cv2
import numpy as np
import pytest

from mien.faces.cuts import changed_outside, find_cuts, resemblance, thumbnail, thumbnail_of
from support.moving import ArrayFrame, compose, placed, still

SIZE = (320, 180)
PORTRAIT = still("grace")


def texture(seed: int) -> np.ndarray:
    """A shot's background: soft blots of colour."""
    generator = np.random.default_rng(seed)
    blots = generator.integers(0, 255, (5, 8, 3)).astype(np.uint8)
    return cv2.resize(blots, (640, 360), interpolation=cv2.INTER_CUBIC)


def shot(seed: int, frames: int, x: Callable[[int], float] = lambda _: 160.0, noise: float = 2) -> list[np.ndarray]:
    """A person before a background."""
    background = texture(seed)[:180, :320]
    return [
        compose([(PORTRAIT, placed(PORTRAIT, x(i), 120, 0.25))], SIZE, background=background, noise=noise, seed=i)
        for i in range(frames)
    ]


def cuts(pictures: list[np.ndarray]) -> list[int]:
    return find_cuts([thumbnail_of(picture) for picture in pictures])


def brighter(picture: np.ndarray, by: float) -> np.ndarray:
    return np.clip(picture.astype(np.float32) * by + 30 * (by > 1), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("seed", range(6))
def test_a_cut_is_seen_at_its_first_frame(seed: int):
    before, after = shot(seed, 12), shot(seed + 50, 12, x=lambda _: 90.0)
    assert cuts(before + after) == [12]


def test_several_cuts_also_back_to_the_first_shot():
    first, second, third = shot(1, 8), shot(2, 8, x=lambda _: 90.0), shot(3, 5, x=lambda _: 230.0)
    assert cuts(first + second + third + first) == [8, 16, 21]


def test_a_new_shot_of_the_same_person_in_the_same_light_is_a_cut():
    near = [cv2.resize(picture[20:110, 80:240], SIZE) for picture in shot(4, 10)]
    assert cuts(shot(4, 10) + near) == [10]


def test_a_person_crossing_quickly_is_none():
    assert cuts(shot(5, 20, x=lambda i: 20 + 14 * i)) == []


@pytest.mark.parametrize("speed", [2, 8, 16])
def test_a_moving_camera_is_none(speed: int):
    wide = np.concatenate([texture(6), texture(7)], axis=1)
    assert cuts([wide[60 : 60 + 180, speed * i : speed * i + 320] for i in range(24)]) == []


def test_a_shaking_camera_is_none():
    wide = texture(8)
    offsets = np.random.default_rng(0).integers(0, 24, (20, 2))
    assert cuts([wide[y : y + 180, x : x + 320] for y, x in offsets + 60]) == []


@pytest.mark.parametrize("by", [1.6, 3.0, 8.0])
def test_flashes_are_none(by: float):
    pictures = shot(9, 20)
    for index in (6, 7, 13):
        pictures[index] = brighter(pictures[index], by)
    assert cuts(pictures) == []


def test_fading_to_black_and_back_is_none():
    pictures = [brighter(picture, abs(10 - i) / 10) for i, picture in enumerate(shot(10, 21))]
    assert cuts(pictures) == []


def test_a_new_shot_after_black_is_a_cut():
    black = [np.zeros((180, 320, 3), np.uint8)] * 5
    assert cuts(shot(11, 8) + black + shot(12, 8)) == [13]


def test_a_change_of_size_is_a_cut():
    assert cuts(shot(13, 3) + [cv2.resize(picture, (180, 320)) for picture in shot(13, 3)]) == [3]


def test_camera_noise_is_none():
    assert cuts(shot(14, 20, noise=15)) == []


def test_thumbnails_are_luma_of_the_whole_frame():
    picture = np.zeros((90, 160, 3), np.uint8)
    picture[:, 80:] = 200
    view = thumbnail(ArrayFrame(picture))
    assert view.shape == (27, 48)
    np.testing.assert_allclose(view[:, :24], 0)
    np.testing.assert_allclose(view[:, 24:], 200)


def test_resemblance_ignores_brightness_and_shift():
    view = thumbnail_of(texture(15))
    assert resemblance(view, view) == pytest.approx(1, abs=1e-5)
    assert resemblance(view, view * 0.4 + 50) == pytest.approx(1, abs=1e-3)
    assert resemblance(view[:, :-5], view[:, 5:]) > 0.99
    assert resemblance(view, thumbnail_of(texture(16))) < 0.5


@pytest.mark.parametrize(
    ("places", "boxes", "seen"),
    [
        ([], [], False),
        ([(5, 7)], [], True),
        ([(5, 7)], [(0.1, 0.1, 0.3, 0.4)], False),
        ([(5, 7)], [(0.2, 0.1, 0.3, 0.4)], True),
        ([(5, 7), (20, 40)], [(0.1, 0.1, 0.3, 0.4)], True),
        ([(0, 0), (26, 47)], [(-0.5, -0.5, 2, 2)], False),
    ],
)
def test_changes_outside_of_boxes_are_seen(
    places: list[tuple[int, int]], boxes: list[tuple[float, ...]], seen: bool
) -> None:
    before = np.full((27, 48), 90, np.float32)
    after = before + np.random.default_rng(0).normal(0, 0.5, before.shape).astype(np.float32)
    for place in places:
        after[place] += 30
    assert changed_outside(before, after, [np.array(box, np.float32) for box in boxes]) is seen


def test_thumbnails_of_other_sizes_are_a_change() -> None:
    assert changed_outside(np.zeros((27, 48), np.float32), np.zeros((48, 27), np.float32), [])
