"""The kernels of the swap against OpenCV and NumPy."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from mien.native import face

pytestmark = pytest.mark.usefixtures("each_variant")

Floats = NDArray[np.float32]
SHARPENING = 1.6


def field(seed: int, *shape: int, low: float = 0.0, high: float = 1.0) -> Floats:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def enlarged(cells: Floats, step: int, height: int, width: int) -> Floats:
    """Linear between the centres of cells, by OpenCV."""
    rows, columns = cells.shape[:2]
    return cv2.resize(cells, (columns * step, rows * step), interpolation=cv2.INTER_LINEAR)[:height, :width]


def cells_over(height: int, width: int, step: int) -> tuple[int, int]:
    return -(-height // step), -(-width // step)


@pytest.mark.parametrize(("height", "width", "step"), [(23, 31, 1), (24, 32, 4), (23, 31, 5), (3, 2, 7), (1, 1, 3)])
def test_shrink_takes_the_means_of_cells(height: int, width: int, step: int):
    whole = field(0, height + 3, width + 2, 3)
    picture = whole[2 : height + 2, 1 : width + 1]
    means = face.shrink(picture, step)
    rows, columns = cells_over(height, width, step)
    assert means.shape == (rows, columns, 3)
    for row in range(rows):
        for column in range(columns):
            cell = picture[row * step : (row + 1) * step, column * step : (column + 1) * step]
            np.testing.assert_allclose(means[row, column], cell.mean(axis=(0, 1)), rtol=1e-5)


WINDOWS = [(slice(0, 40), slice(0, 50)), (slice(12, 36), slice(6, 49)), (slice(39, 40), slice(0, 50))]


@pytest.mark.parametrize("step", [1, 3, 6])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("reach", [0.4, 15.0])
def test_move_takes_pixels_from_elsewhere(step: int, window: tuple[slice, slice], reach: float):
    picture = cv2.GaussianBlur(field(1, 40, 50, 3), (0, 0), 1.0)
    high, wide = (one.stop - one.start for one in window)
    shape = cells_over(high, wide, step)
    shift_x, shift_y = (field(seed, *shape, low=-reach, high=reach) for seed in (2, 3))
    moved, detail = face.move(picture, shift_x, shift_y, step, window, SHARPENING)

    x, y = (enlarged(one, step, high, wide) for one in (shift_x, shift_y))
    x = np.clip(x + np.arange(wide, dtype=np.float32) + window[1].start, 0, 49)
    y = np.clip(y + np.arange(high, dtype=np.float32)[:, None] + window[0].start, 0, 39)
    taken = exact_look_up(picture, x, y)
    grey = taken @ np.array([0.299, 0.587, 0.114])
    finest = grey - cv2.GaussianBlur(grey, (3, 3), 0)
    lost = sum((one % 1) - (one % 1) ** 2 for one in (x.astype(np.float64), y.astype(np.float64)))
    np.testing.assert_allclose(detail, finest, atol=2e-5)
    np.testing.assert_allclose(moved[window], taken + (SHARPENING * lost * finest)[..., None], atol=5e-5)
    moved[window] = picture[window]
    np.testing.assert_array_equal(moved, picture)


def exact_look_up(picture: Floats, x: Floats, y: Floats) -> NDArray[np.float64]:
    """Bilinear in float64, as OpenCV's own look-up rounds places to 1/32 of a pixel."""
    left = np.minimum(x.astype(int), picture.shape[1] - 2)
    top = np.minimum(y.astype(int), picture.shape[0] - 2)
    right, below = (x - left)[..., None].astype(np.float64), (y - top)[..., None].astype(np.float64)
    upper = picture[top, left] * (1 - right) + picture[top, left + 1] * right
    lower = picture[top + 1, left] * (1 - right) + picture[top + 1, left + 1] * right
    return upper * (1 - below) + lower * below


@pytest.mark.parametrize(("height", "width"), [(2, 2), (40, 50), (41, 3)])
def test_what_does_not_move_stays_bit_for_bit(height: int, width: int):
    picture = field(4, height, width, 3, low=-1, high=2)
    still = np.zeros(cells_over(height, width, 3), np.float32)
    moved, _ = face.move(picture, still, still, 3, (slice(0, height), slice(0, width)), SHARPENING)
    np.testing.assert_array_equal(moved, picture)


@pytest.mark.parametrize(("step", "size"), [(1, (9, 13)), (5, (43, 61)), (7, (49, 63))])
@pytest.mark.parametrize("side", [2, 33])
def test_draw_looks_the_texture_up(step: int, size: tuple[int, int], side: int):
    shape = cells_over(*size, step)
    texture = field(5, side, side, 4)
    u, v = (field(seed, *shape, low=-0.1, high=1.1) for seed in (6, 7))
    factor, base = (field(seed, *shape, 4) for seed in (8, 9))
    drawn, grey = face.draw(texture, u, v, factor, base, step, size)
    x, y = (np.clip(enlarged(one, step, *size) * side - 0.5, 0, side - 1) for one in (u, v))
    expected = exact_look_up(texture, x, y) * enlarged(factor, step, *size) + enlarged(base, step, *size)
    np.testing.assert_allclose(drawn, expected, atol=1e-4)
    np.testing.assert_allclose(grey, drawn[..., :3] @ np.array([0.299, 0.587, 0.114]), atol=1e-5)


@pytest.mark.parametrize("steps", [(1, 1), (5, 3), (2, 9)])
def test_products_of_fields(steps: tuple[int, int]):
    size = (37, 52)
    one, other = (field(seed, *cells_over(*size, step)) for seed, step in enumerate(steps))
    product = face.enlarge_product(one, steps[0], other, steps[1], size)
    expected = enlarged(one, steps[0], *size) * enlarged(other, steps[1], *size)
    np.testing.assert_allclose(product, expected, atol=1e-5)


@pytest.mark.parametrize("size", [(1, 1), (2, 5), (37, 52), (38, 51)])
def test_quiet_is_where_detail_is_small(size: tuple[int, int]):
    whole = field(20, size[0] + 2, size[1] + 3, low=-1) * np.linspace(0, 1, size[1] + 3, dtype=np.float32)
    band = whole[1:-1, 2:-1]
    quiet = face.quiet(band, 0.2)
    even = np.pad(np.abs(band), ((0, size[0] % 2), (0, size[1] % 2)), mode="edge")
    cells = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2).mean(axis=(1, 3))
    around = np.pad(cells, 1, mode="edge")
    mean = np.lib.stride_tricks.sliding_window_view(around, (3, 3)).mean(axis=(2, 3))
    np.testing.assert_allclose(quiet, np.clip(2 - mean / 0.2, 0, 1), atol=1e-4)


@pytest.mark.parametrize("softens", [False, True])
@pytest.mark.parametrize("smooths", [False, True])
def test_lay_over_matches_the_finest_detail(softens: bool, smooths: bool):
    size, step = (37, 52), 4
    whole, whole_band = field(10, 50, 60, 3), field(11, 50, 60, low=-0.1, high=0.1)
    view, band = whole[5:42, 3:55], whole_band[2:39, 8:60]
    drawn, opacity = field(12, *size, 4), np.clip(field(13, *size, low=-0.5, high=1.5), 0, 1)
    quiet, share, parts = field(14, 19, 26), field(15, 10, 13), field(16, 10, 13)
    fine, skin = (field(seed, *size, low=-0.1, high=0.1) for seed in (17, 18))

    change = band * enlarged(quiet, 2, *size) * enlarged(share, step, *size)
    if softens:
        change = change - 0.3 * fine
    if smooths:
        change = change - 0.6 * (1 - enlarged(parts, step, *size)) * skin
    expected = view + opacity[..., None] * (drawn[..., :3] + change[..., None] - view)
    before = whole.copy()
    face.lay_over(
        view,
        drawn,
        opacity,
        (band, quiet, share),
        step,
        soften=(fine, 0.3) if softens else None,
        smooth=(skin, 0.6, parts) if smooths else None,
    )
    np.testing.assert_allclose(view, expected, atol=1e-5)
    np.testing.assert_array_equal(view[opacity == 0], before[5:42, 3:55][opacity == 0])
    view[...] = before[5:42, 3:55]
    np.testing.assert_array_equal(whole, before)


def test_arrays_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="picture holds float64"):
        face.shrink(np.zeros((4, 4, 3)), 2)
    with pytest.raises(ValueError, match="shift_y has shape"):
        face.move(field(0, 8, 8, 3), field(1, 4, 4), field(2, 4, 3), 2, (slice(0, 8), slice(0, 8)), 0.0)
