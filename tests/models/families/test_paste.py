import numpy as np
import pytest

from mien.geometry import Rect
from mien.models.families import masks
from mien.models.families.alignment import align, cut
from mien.models.families.paste import footprint, paste
from mien.models.families.templates import ARCFACE_128
from support import reference

FACES = pytest.mark.parametrize(
    ("x", "y", "size"), [(240, 120, 90), (60, 60, 200), (470, 490, 160), (256, 256, 700)], ids=str
)


def points(x: float, y: float, size: float) -> np.ndarray:
    return (ARCFACE_128 - 0.5) @ [[0.96, 0.28], [-0.28, 0.96]] * size + [x, y]


@pytest.fixture(scope="module")
def frame(portrait: np.ndarray) -> np.ndarray:
    return portrait.astype(np.float32) / 255


@FACES
def test_pasting_is_that_of_the_contract(frame, x, y, size):
    matrix = align(points(x, y, size), ARCFACE_128, 128)
    crop, mask = 1 - cut(frame, matrix, 128), masks.box(128)
    rect = footprint(matrix, 128, 512, 512)
    result = frame.copy()
    result[rect.slices] = paste(frame[rect.slices], rect, crop, mask, matrix)
    difference = np.abs(result - reference.paste(frame.astype(np.float64), crop, mask, matrix))
    assert difference.mean() < 0.1 / 255
    assert np.quantile(difference, 0.999) < 3 / 255


@FACES
def test_only_the_footprint_changes(frame, x, y, size):
    matrix = align(points(x, y, size), ARCFACE_128, 128)
    rect = footprint(matrix, 128, 512, 512)
    everywhere = Rect(0, 0, 512, 512)
    result = paste(frame, everywhere, np.full((128, 128, 3), 2, np.float32), masks.box(128), matrix)
    changed = np.argwhere((result != frame).any(axis=2))
    assert len(changed)
    (top, left), (bottom, right) = changed.min(0), changed.max(0)
    assert rect.x <= left
    assert right < rect.right
    assert rect.y <= top
    assert bottom < rect.bottom


@FACES
def test_a_patch_is_pasted_as_a_whole_frame_is(frame, x, y, size):
    matrix = align(points(x, y, size), ARCFACE_128, 128)
    crop, mask = cut(frame, matrix, 128)[:, :, ::-1], masks.box(128)
    rect = footprint(matrix, 128, 512, 512)
    part = paste(frame[rect.slices], rect, crop, mask, matrix)
    whole = paste(frame, Rect(0, 0, 512, 512), crop, mask, matrix)
    # OpenCV knows places to 1/32 of a pixel, and rounds them from another corner.
    np.testing.assert_allclose(part, whole[rect.slices], atol=0.05)
    assert np.abs(part - whole[rect.slices]).mean() < 1e-3


@FACES
def test_an_edit_that_changes_nothing_leaves_the_frame_untouched(frame, x, y, size):
    matrix = align(points(x, y, size), ARCFACE_128, 128)
    crop = cut(frame, matrix, 128)
    rect = footprint(matrix, 128, 512, 512)
    kept = paste(frame[rect.slices], rect, crop.copy(), masks.box(128), matrix, before=crop)
    np.testing.assert_array_equal(kept, frame[rect.slices])


def test_only_the_change_is_pasted(frame):
    matrix = align(points(240, 120, 90), ARCFACE_128, 128)
    crop = cut(frame, matrix, 128)
    rect = footprint(matrix, 128, 512, 512)
    patch = frame[rect.slices]
    lighter = paste(patch, rect, crop + np.float32(0.1), np.ones((128, 128), np.float32), matrix, before=crop)
    middle = tuple(slice(side // 3, 2 * side // 3) for side in patch.shape[:2])
    np.testing.assert_allclose((lighter - patch)[middle], 0.1, atol=1e-6)


def test_a_crop_outside_the_picture_has_no_footprint():
    matrix = align(points(-300, 100, 90), ARCFACE_128, 128)
    assert footprint(matrix, 128, 512, 512) is None
    inside = footprint(align(points(100, 100, 90), ARCFACE_128, 128), 128, 512, 512)
    assert inside == footprint(align(points(100, 100, 90), ARCFACE_128, 256), 256, 512, 512)
