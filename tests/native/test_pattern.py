"""Patterns added to planes, against OpenCV."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from mien.native.pattern import add_pattern

pytestmark = pytest.mark.usefixtures("each_variant")


@pytest.mark.parametrize("bits", [8, 10, 16])
@pytest.mark.parametrize(
    ("size", "cells"), [((90, 160), (12, 21)), ((37, 53), (37, 53)), ((41, 30), (3, 1)), ((1, 1), (2, 2))]
)
def test_the_enlarged_pattern_is_added(bits: int, size: tuple[int, int], cells: tuple[int, int]):
    rng = np.random.default_rng(bits)
    dtype = np.uint8 if bits == 8 else np.uint16
    whole = rng.integers(0, 2**bits, (size[0], size[1] + 3)).astype(dtype)
    plane, before = whole[:, 2:-1], whole.copy()
    pattern = rng.integers(0, 256, cells).astype(np.uint8)
    share = 2.0 ** (bits - 8) / 16
    squares = add_pattern(plane, pattern, nothing=128, share=share, most=2**bits - 1)

    enlarged = cv2.resize(pattern.astype(np.float64), size[::-1], interpolation=cv2.INTER_CUBIC)
    expected = np.clip(before[:, 2:-1] + (enlarged - 128) * share, 0, 2**bits - 1)
    assert np.abs(plane - expected).max() <= 0.5 + 2e-3 * 2.0 ** (bits - 8)
    changes = plane.astype(np.float64) - before[:, 2:-1]
    assert squares == pytest.approx(np.square(changes).sum(), rel=1e-5)
    plane[...] = before[:, 2:-1]
    np.testing.assert_array_equal(whole, before)


def test_nothing_changes_nothing():
    plane = np.random.default_rng(0).integers(0, 256, (30, 40)).astype(np.uint8)
    before = plane.copy()
    assert add_pattern(plane, np.full((4, 5), 128, np.uint8), nothing=128, share=0.1, most=255) == 0
    np.testing.assert_array_equal(plane, before)


def test_planes_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="float32"):
        add_pattern(np.zeros((4, 4), np.float32), np.zeros((2, 2), np.uint8), nothing=0, share=1, most=255)
