"""Stored samples as R'G'B' and back, against a plain calculation in float64."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from mien.native import planes
from mien.native.planes import Planes

pytestmark = pytest.mark.usefixtures("each_variant")

AFFINE = np.array([[1.16, 0.02, 1.79, -200], [1.16, -0.21, -0.53, 50], [1.16, 2.11, 0.01, -250]], np.float32) / 255
CODES = np.array([[47, 157, 16], [-26, -86, 112], [112, -102, -10]], np.float32)
PLACES = [(slice(0, 24), slice(0, 36)), (slice(3, 10), slice(5, 16)), (slice(19, 25), slice(30, 37))]


def stored(bits: int, step_x: int, step_y: int, height: int = 25, width: int = 37) -> Planes:
    """Random planes, each a part of a wider one."""
    rng = np.random.default_rng(bits)
    dtype = np.uint8 if bits == 8 else np.uint16
    rows, columns = -(-height // step_y), -(-width // step_x)
    luma, cb, cr = (
        rng.integers(0, 2**bits, (one, other + 5)).astype(dtype)[:, :other]
        for one, other in ((height, width), (rows, columns), (rows, columns))
    )
    return Planes(luma, cb, cr, step_x, step_y)


def at_pixels(plane: NDArray[Any], step_x: int, step_y: int, height: int, width: int) -> NDArray[np.float32]:
    size = plane.shape[1] * step_x, plane.shape[0] * step_y
    return cv2.resize(plane.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)[:height, :width]


@pytest.mark.parametrize("bits", [8, 10, 16])
@pytest.mark.parametrize("steps", [(1, 1), (2, 1), (2, 2), (4, 1), (4, 4)])
@pytest.mark.parametrize("place", PLACES)
def test_rgb_of_a_rectangle(bits: int, steps: tuple[int, int], place: tuple[slice, slice]):
    samples = stored(bits, *steps)
    rgb = planes.rgb_of(samples, place, AFFINE)
    channels = [samples.luma, *(at_pixels(one, *steps, *samples.luma.shape) for one in (samples.cb, samples.cr))]
    whole = np.stack([*channels, np.ones_like(samples.luma)], axis=-1) @ AFFINE.T.astype(np.float64)
    np.testing.assert_allclose(rgb, whole[place], rtol=1e-5, atol=1e-5 * 2**bits)


@pytest.mark.parametrize("bits", [8, 10, 16])
@pytest.mark.parametrize("steps", [(1, 1), (2, 1), (2, 2), (4, 1), (4, 4)])
@pytest.mark.parametrize("place", PLACES)
def test_changes_are_added_to_the_samples(bits: int, steps: tuple[int, int], place: tuple[slice, slice]):
    samples, most = stored(bits, *steps), 2**bits - 1
    before = [one.copy() for one in samples[:3]]
    size = samples.luma[place].shape
    one, other = (np.random.default_rng(seed).uniform(-2, 2, (*size, 3)).astype(np.float32) for seed in (1, 2))
    codes = CODES * 2.0 ** (bits - 8)
    planes.add_to(samples, place, codes.astype(np.float32), one, other, most)

    height, width = samples.luma.shape
    change = np.zeros((height, width, 3))
    change[place] = (other.astype(np.float64) - one) @ codes.T
    totals = [before[0] + change[..., 0]]
    for number in (1, 2):
        # A sample's mean over its pixels: the last ones may have fewer.
        cells = [
            [change[y : y + steps[1], x : x + steps[0], number].mean() for x in range(0, width, steps[0])]
            for y in range(0, height, steps[1])
        ]
        totals.append(before[number] + np.array(cells))
    for plane, total in zip(samples[:3], totals, strict=True):
        expected = np.clip(total, 0, most)
        assert np.abs(plane - expected).max() <= 0.5 + 1e-3 * 2.0 ** (bits - 8)


def test_no_change_leaves_every_sample():
    samples = stored(8, 2, 2)
    before = [one.copy() for one in samples[:3]]
    rgb = planes.rgb_of(samples, PLACES[1], AFFINE)
    planes.add_to(samples, PLACES[1], CODES, rgb, rgb.copy(), 255)
    for plane, old in zip(samples[:3], before, strict=True):
        np.testing.assert_array_equal(plane, old)


def test_differences_are_seen():
    one = np.zeros((3, 4, 3), np.float32)
    other = one.copy()
    assert not planes.differ(one, other)
    other[2, 3, 2] = 1e-30
    assert planes.differ(one, other)


def test_planes_of_another_kind_are_refused():
    samples = stored(8, 2, 2)
    with pytest.raises(ValueError, match="float32, the kernel works with uint8 and uint16"):
        planes.rgb_of(samples._replace(luma=samples.luma.astype(np.float32)), PLACES[1], AFFINE)
    with pytest.raises(ValueError, match="cr holds uint16"):
        planes.rgb_of(samples._replace(cr=samples.cr.astype(np.uint16)), PLACES[1], AFFINE)
    locked = samples._replace(cb=samples.cb.copy())
    locked.cb.flags.writeable = False
    rgb = planes.rgb_of(samples, PLACES[1], AFFINE)
    with pytest.raises(ValueError, match="cb is read-only"):
        planes.add_to(locked, PLACES[1], CODES, rgb, rgb, 255)
