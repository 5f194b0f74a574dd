"""Rectangles, against sets of pixels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.geometry import Rect

rects = st.builds(
    Rect,
    x=st.integers(-40, 40),
    y=st.integers(-40, 40),
    width=st.integers(1, 50),
    height=st.integers(1, 50),
)
sizes = st.tuples(st.integers(1, 60), st.integers(1, 60))


def pixels(rect: Rect | None) -> set[tuple[int, int]]:
    if rect is None:
        return set()
    return {(x, y) for x in range(rect.x, rect.right) for y in range(rect.y, rect.bottom)}


@pytest.mark.parametrize(("width", "height"), [(0, 1), (1, 0), (-1, 5)])
def test_a_rectangle_without_pixels_is_refused(width: int, height: int) -> None:
    with pytest.raises(ValueError, match=f"got {width}x{height}"):
        Rect(0, 0, width, height)


@given(rects, sizes)
def test_clip_keeps_the_pixels_inside_the_frame(rect: Rect, size: tuple[int, int]) -> None:
    width, height = size
    frame = {(x, y) for x in range(width) for y in range(height)}
    assert pixels(rect.clip(width, height)) == pixels(rect) & frame


@given(rects, sizes, st.sampled_from([1, 2, 4]))
def test_align_is_the_smallest_rectangle_of_whole_steps(rect: Rect, size: tuple[int, int], step: int) -> None:
    width, height = size
    cells = {(x // step, y // step) for x, y in pixels(rect)}
    expected = {(x, y) for x in range(width) for y in range(height) if (x // step, y // step) in cells}
    assert pixels(rect.align(step, width, height)) == expected


def test_slices_index_rows_then_columns() -> None:
    image = np.zeros((6, 8), np.uint8)
    image[Rect(5, 1, 2, 4).slices] = 1
    assert {(int(x), int(y)) for y, x in zip(*np.nonzero(image), strict=True)} == pixels(Rect(5, 1, 2, 4))


def test_it_is_a_value() -> None:
    assert Rect(1, 2, 3, 4) == Rect(1, 2, 3, 4)
    assert len({Rect(1, 2, 3, 4), Rect(1, 2, 3, 4)}) == 1
    with pytest.raises(AttributeError):
        Rect(1, 2, 3, 4).x = 5  # type: ignore[misc]
