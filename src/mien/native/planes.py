"""Between stored Y'CbCr samples and R'G'B'; `planes.c` says what each function does."""

from __future__ import annotations

from ctypes import c_float, c_int, c_size_t, c_ssize_t, c_void_p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mien.native.arrays import packed, rows
from mien.native.loading import Kernel

Float = NDArray[np.float32]
Plane = NDArray[Any]

_RGB = Kernel(
    "mien_rgb_of_planes",
    *[c_void_p, c_ssize_t, c_void_p, c_void_p, c_ssize_t, *[c_int] * 7, c_void_p, c_void_p, c_int, c_int],
)
_ADD = Kernel(
    "mien_add_to_planes",
    *[c_void_p, c_ssize_t, c_int, c_int, c_void_p, c_void_p, c_ssize_t, *[c_int] * 5, *[c_void_p] * 3],
    *[c_int, c_int, c_float],
)
_COMPARE = Kernel("mien_compare", c_void_p, c_void_p, c_size_t, c_void_p)


class Planes(NamedTuple):
    """Planes of Y', Cb and Cr, all uint8 or all uint16, rows may lie apart."""

    luma: Plane
    """(height, width)"""
    cb: Plane
    """(rows, columns) one sample for each `step_x` x `step_y` pixels."""
    cr: Plane
    step_x: int
    step_y: int

    def addresses(self, *, written: bool = False) -> tuple[tuple[int, int], tuple[int, int, int]]:
        """Address and stride of luma; addresses and stride of chroma.

        Raises:
            ValueError: these are not such planes.
        """
        dtype = self.luma.dtype
        if dtype.name not in ("uint8", "uint16"):
            raise ValueError(f"the planes hold {dtype}, the kernel works with uint8 and uint16")
        luma = rows("luma", self.luma, dtype, (None, None), written=written)
        (cb, stride), (cr, other) = (
            rows(name, plane, dtype, self.cb.shape, written=written)
            for name, plane in (("cb", self.cb), ("cr", self.cr))
        )
        if stride != other:
            raise ValueError(f"cb and cr have rows of {stride} and {other} samples, the kernel needs them alike")
        return luma, (cb, cr, stride)


def rgb_of(planes: Planes, place: tuple[slice, slice], affine: Float) -> Float:
    """A rectangle as R'G'B' (height, width, 3), chroma linear between its samples' centres.

    Args:
        planes: All samples of the picture.
        place: Rows and columns, inside the picture.
        affine: (3, 4) from Y', Cb, Cr and 1 to R', G', B'.
    """
    (y, height), (x, width) = ((one.start, one.stop - one.start) for one in place)
    rgb = np.empty((height, width, 3), np.float32)
    (luma, stride), chroma = planes.addresses()
    itemsize = planes.luma.itemsize
    _RGB(
        luma + (y * stride + x) * itemsize,
        stride,
        *chroma,
        *planes.cb.shape,
        *(itemsize, planes.step_x, planes.step_y, x, y),
        packed("affine", affine, np.float32, (3, 4)),
        packed("rgb", rgb, np.float32, rgb.shape),
        *(height, width),
    )
    return rgb


def add_to(planes: Planes, place: tuple[slice, slice], codes: Float, before: Float, after: Float, most: int) -> None:
    """Add `after - before` (height, width, 3) to a rectangle in place, rounded to nearest, kept within 0..`most`.

    A chroma sample takes the mean change of its pixels: those outside the rectangle do not change, those outside the
    picture do not count.

    Args:
        planes: All samples of the picture.
        place: Rows and columns, inside the picture.
        codes: (3, 3) from a difference of R', G', B' to one of Y', Cb, Cr.
        before: R'G'B' of the rectangle as it is.
        after: As it is to be.
        most: Largest code.
    """
    (y, height), (x, width) = ((one.start, one.stop - one.start) for one in place)
    luma, chroma = planes.addresses(written=True)
    _ADD(
        *luma,
        *planes.luma.shape,
        *chroma,
        *(planes.luma.itemsize, planes.step_x, planes.step_y, x, y),
        packed("codes", codes, np.float32, (3, 3)),
        packed("before", before, np.float32, (height, width, 3)),
        packed("after", after, np.float32, (height, width, 3)),
        *(height, width, most),
    )


def differ(one: Float, other: Float) -> bool:
    """Whether two arrays of one shape have different bytes."""
    differs = np.zeros(1, np.uint8)
    _COMPARE(
        packed("one", one, np.float32, one.shape),
        packed("other", other, np.float32, one.shape),
        one.size,
        packed("differs", differs, np.uint8, (1,), written=True),
    )
    return bool(differs[0])
