import numpy as np
import pytest

from mien.models.families.boost import join, split
from support import reference


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_sub_images_interleave_rows_and_columns(times: int):
    crops = np.random.default_rng(0).random((2, 12 * times, 12 * times, 3), np.float32)
    parts = split(crops, times)
    assert parts.shape == (2 * times * times, 12, 12, 3)
    for number, crop in enumerate(crops):
        for row in range(times):
            for column in range(times):
                part = parts[(number * times + row) * times + column]
                np.testing.assert_array_equal(part, crop[row::times, column::times])
    np.testing.assert_array_equal(join(parts, times), crops)


def test_what_is_done_to_each_part_is_done_to_the_crop():
    crop = np.random.default_rng(1).random((1, 64, 64, 3))
    rows = np.linspace(0, 1, 16)[:, None, None]
    result = join(split(crop, 4) * rows, 4)[0]
    np.testing.assert_allclose(result, reference.boosted(crop[0], 4, lambda part: part * rows))


def test_sides_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="384x384 cannot be split into 5 x 5"):
        split(np.zeros((1, 384, 384, 3)), 5)
