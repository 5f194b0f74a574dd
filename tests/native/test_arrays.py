"""Arrays on their way to a kernel: C finds their elements at the address, and what it would misread is refused."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.native.arrays import packed, rows


def memory(address: int, count: int) -> np.ndarray:
    """`count` floats as C finds them at an address."""
    return np.array((ctypes.c_float * count).from_address(address))


def numbers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def test_the_address_is_that_of_the_first_element():
    array = numbers(4, 5, 3)
    assert np.array_equal(memory(packed("array", array, np.float32, (4, None, 3)), array.size), array.ravel())
    later = array[1:]
    assert memory(packed("later", later, np.float32, (3, 5, 3)), 1) == array[1, 0, 0]


@given(
    height=st.integers(1, 6),
    width=st.integers(1, 6),
    top=st.integers(0, 5),
    left=st.integers(0, 5),
    high=st.integers(1, 6),
    wide=st.integers(1, 6),
    step=st.integers(1, 3),
)
def test_rows_lead_to_every_element_of_a_window(height, width, top, left, high, wide, step):
    picture = numbers(height + 5, width + 5, 3)
    window = picture[top : top + high : step, left : left + wide]
    address, stride = rows("window", window, np.float32, (None, None, 3))
    for y, row in enumerate(window):
        assert np.array_equal(memory(address + 4 * stride * y, row.size), row.ravel())


@pytest.mark.parametrize("take", [packed, lambda *given: rows(*given)[0]])
def test_no_rows_and_empty_rows_are_arrays_too(take):
    for shape in ((0, 4, 3), (4, 0, 3), (1, 1, 3)):
        assert isinstance(take("array", numbers(*shape), np.float32, (None, None, 3)), int)


READ_ONLY = numbers(4, 5, 3)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("take", [packed, rows])
@pytest.mark.parametrize(
    ("array", "message"),
    [
        (numbers(4, 5, 3).astype(np.float64), "frame holds float64, the kernel works with float32"),
        (numbers(4, 5, 3).astype(">f4"), "frame holds >f4, the kernel works with float32"),
        (numbers(4, 5), r"frame has shape \(4, 5\), the kernel needs \(any, 5, 3\)"),
        (numbers(4, 6, 3), r"frame has shape \(4, 6, 3\), the kernel needs \(any, 5, 3\)"),
        (numbers(4, 5, 4)[:, :, :3], r"frame has gaps .*strides \(80, 16, 4\) for \(4, 5, 3\): copy it first"),
        (numbers(5, 4, 3).transpose(1, 0, 2), "frame has gaps .*copy it first"),
        (READ_ONLY, "frame is read-only, and the kernel writes to it"),
    ],
)
def test_what_a_kernel_would_misread_is_refused(take, array, message):
    with pytest.raises(ValueError, match=message):
        take("frame", array, np.float32, (None, 5, 3), written=True)


def test_rows_apart_are_not_packed():
    with pytest.raises(ValueError, match="frame has gaps or another order"):
        packed("frame", numbers(4, 9, 3)[:, :5], np.float32, (4, 5, 3))


@pytest.mark.parametrize("array", [numbers(4, 5)[::-1], np.broadcast_to(numbers(5), (4, 5))])
def test_rows_that_run_backwards_or_overlap_are_refused(array):
    with pytest.raises(ValueError, match="frame has rows that overlap or run backwards"):
        rows("frame", array, np.float32, (None, None))


def test_what_is_only_read_may_be_read_only():
    assert packed("frame", READ_ONLY, np.float32, READ_ONLY.shape) == READ_ONLY.ctypes.data
