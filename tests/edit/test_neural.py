"""What an edit by a network does to a patch, whatever the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mien.edit.neural.crops import Placement
from mien.edit.neural.masking import Masker, MaskSettings
from mien.edit.neural.swap import NeuralSwap
from mien.faces.face import TrackedFace
from mien.geometry import Rect
from mien.models.families.templates import ARCFACE_128
from support import field, jobs, people, reference

PICTURE = jobs.rgb(jobs.HOPPER)
FACE = people.analyser().find(PICTURE)[0]


class Function:
    """A swapper made of a function of crops."""

    template = ARCFACE_128
    side = 128
    needs_target = False

    def __init__(self, function: Callable[[np.ndarray], np.ndarray], seen: np.ndarray | None = None) -> None:
        self._function = function
        self._seen = seen

    def replace(self, crop, target):
        assert target is None
        return self._function(crop.copy()).astype(np.float32), self._seen


def tracked(landmarks: np.ndarray = FACE.landmarks, fade: float = 1.0) -> TrackedFace:
    return TrackedFace(replace(FACE, landmarks=landmarks), 0, None, None, fade, False)


def moved(x: float, y: float) -> TrackedFace:
    return tracked(FACE.landmarks + np.array([x, y, 0], np.float32))


def working(rect: Rect) -> np.ndarray:
    return (PICTURE[rect.slices] / 255).astype(np.float32)


def run(swapper: Function, face: TrackedFace | None = None, patch: np.ndarray | None = None, **masks: object):
    """The patch before and after."""
    effect, face = NeuralSwap(swapper, Masker(MaskSettings(**masks))), face or tracked()
    rect = effect.rect(face, PICTURE.shape[1], PICTURE.shape[0])
    before = working(rect) if patch is None else patch
    kept = before.copy()
    after = effect.edit(before, rect, face, ())
    assert np.array_equal(before, kept), "the patch is not written to"
    assert (after.shape, after.dtype) == (before.shape, np.float32)
    return before, after


def darker(crop: np.ndarray) -> np.ndarray:
    return crop * 0.5


def test_what_the_network_leaves_alone_stays_bit_for_bit() -> None:
    before, after = run(Function(lambda crop: crop))
    assert np.array_equal(before, after)


def test_values_brighter_than_white_stay_where_nothing_changes() -> None:
    rect = NeuralSwap(Function(darker), Masker(MaskSettings())).rect(tracked(), *PICTURE.shape[1::-1])
    bright = working(rect) * 3
    _, after = run(Function(lambda crop: crop), patch=bright)
    assert np.array_equal(after, bright)


def test_detail_stays_beside_a_change() -> None:
    def right_half(crop: np.ndarray) -> np.ndarray:
        crop[:, 64:] *= 0.5
        return crop

    before, after = run(Function(right_half))
    middle = before.shape[1] // 2
    reach = before.shape[1] // 16
    assert np.array_equal(before[:, : middle - reach], after[:, : middle - reach])
    change = np.abs(after - before)[reach * 4 : -reach * 4, middle + reach : -reach * 4]
    assert change.mean() > 0.1


def test_a_changed_face_has_no_more_detail_than_its_crop() -> None:
    """The target's own pores must not shine through another person's skin."""
    before, after = run(Function(darker))
    rect = NeuralSwap(Function(darker), Masker(MaskSettings())).rect(tracked(), *PICTURE.shape[1::-1])
    matrix = reference.similarity(field.five(PICTURE), ARCFACE_128 * 128)
    crop = reference.warp(PICTURE, matrix, 128, 128)
    expected = reference.paste(PICTURE.astype(float), crop / 2, reference.box_mask(128, 0.3, (0,) * 4), matrix)
    # Where the crop is nearly black, half of it is nearly the same.
    dark = reference.warp((crop.max(axis=2) < 40).astype(float), reference.inverse(matrix), *PICTURE.shape[1::-1])
    clear = dark[rect.slices] == 0
    difference = after * 255 - expected[rect.slices]
    assert np.sqrt(np.mean(difference[clear] ** 2)) < 0.6
    assert np.abs(after - before).max() > 0.3


@pytest.mark.parametrize("fade", [0.0, 0.25, 1.0])
def test_fading(fade: float) -> None:
    before, whole = run(Function(darker))
    _, faded = run(Function(darker), tracked(fade=fade))
    assert np.allclose(faded - before, fade * (whole - before), atol=1e-5)


def test_a_mask_of_the_network_counts_as_well() -> None:
    seen = np.zeros((128, 128), np.float32)
    seen[:, :64] = 1
    before, after = run(Function(darker, seen))
    middle, reach = before.shape[1] // 2, before.shape[1] // 16
    assert np.array_equal(before[:, middle + reach :], after[:, middle + reach :])
    assert np.abs(after - before)[:, : middle - reach].max() > 0.2


@pytest.mark.parametrize(("x", "y"), [(-250, 0), (300, 10), (0, -250), (20, 420), (-700, -700), (2000, 50)])
def test_faces_at_the_edge_and_outside(x: float, y: float) -> None:
    face = moved(x, y)
    effect = NeuralSwap(Function(darker), Masker(MaskSettings()))
    rect = effect.rect(face, PICTURE.shape[1], PICTURE.shape[0])
    assert rect.clip(PICTURE.shape[1], PICTURE.shape[0]) == rect
    before, after = run(Function(darker), face)
    assert np.isfinite(after).all()
    if abs(x) > 512 or abs(y) > 600:
        assert np.array_equal(before, after)


def test_a_larger_rectangle_makes_no_difference() -> None:
    effect = NeuralSwap(Function(darker), Masker(MaskSettings()))
    rect = effect.rect(tracked(), PICTURE.shape[1], PICTURE.shape[0])
    larger = Rect(rect.x - 7, rect.y - 3, rect.width + 20, rect.height + 9)
    after = effect.edit(working(rect), rect, tracked(), ())
    around = effect.edit(working(larger), larger, tracked(), ())
    inner = around[3 : 3 + rect.height, 7 : 7 + rect.width]
    assert np.abs(inner - after).max() < 2e-3
    outside = np.ones(around.shape[:2], bool)
    outside[3 : 3 + rect.height, 7 : 7 + rect.width] = False
    assert np.array_equal(around[outside], working(larger)[outside])


def test_a_mask_without_its_network_is_an_error_of_ours() -> None:
    with pytest.raises(ValueError, match="occlusion"):
        run(Function(darker), kinds=("occlusion",))


def test_points_land_on_the_template() -> None:
    points = field.five(PICTURE)
    placed = Placement.of(points, ARCFACE_128, 128).move(points)
    goal = ARCFACE_128 * 128
    assert np.abs(placed - goal).max() < 6, "a face is no template, but alike"
    assert np.abs(placed.mean(axis=0) - goal.mean(axis=0)).max() < 1e-9


def test_restoring_keeps_only_what_hides_the_face() -> None:
    settings = MaskSettings(("area", "occlusion", "region"), padding=(5, 5, 5, 5), blur=0.1)
    assert settings.for_restoring == MaskSettings(("box", "occlusion"), blur=0.1)
    assert MaskSettings(("region",)).for_restoring.kinds == ("box",)
