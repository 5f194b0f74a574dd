"""The swap's loops over the pixels of a face; `face.c` says what each does. All arrays are float32."""

from __future__ import annotations

from ctypes import c_float, c_int, c_ssize_t, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.native.arrays import packed, rows
from mien.native.loading import Kernel

Floats = NDArray[np.floating[Any]]

_SHRINK = Kernel("mien_shrink", c_void_p, c_ssize_t, *[c_int] * 3, c_void_p)
_MOVE = Kernel(
    "mien_move", c_void_p, *[c_int] * 2, *[c_void_p] * 2, *[c_int] * 5, *[c_void_p] * 2, c_int, c_int, c_float
)
_DRAW = Kernel("mien_draw", c_void_p, c_int, *[c_void_p] * 4, *[c_int] * 3, *[c_void_p] * 2, *[c_int] * 2)
_PRODUCT = Kernel("mien_enlarge_product", *[c_void_p, *[c_int] * 3] * 2, c_void_p, *[c_int] * 2)
_LAY_OVER = Kernel(
    "mien_lay_over",
    *[c_void_p, c_ssize_t, c_void_p, c_void_p, c_void_p, c_ssize_t],
    *[c_void_p, c_int, c_int, c_void_p, c_void_p, c_int, c_int, c_int],
    *[c_void_p, c_float, c_void_p, c_float, c_int, c_int],
)
_QUIET = Kernel("mien_quiet", c_void_p, c_ssize_t, c_int, c_int, c_float, c_void_p)
_TRIANGLES = Kernel("mien_draw_triangles", c_void_p, c_void_p, c_int, c_void_p, c_int, c_void_p, c_int, c_int)


def shrink(picture: Floats, step: int) -> Floats:
    """Means (rows, columns, 3) of the cells of `step` x `step` pixels of a picture (height, width, 3).

    The picture's rows may lie apart; cells at its end may be smaller.
    """
    height, width = picture.shape[:2]
    means = np.empty((-(-height // step), -(-width // step), 3), np.float32)
    address, stride = rows("picture", picture, np.float32, (None, None, 3))
    _SHRINK(address, stride, height, width, step, packed("means", means, np.float32, means.shape))
    return means


def move(
    picture: Floats, shift_x: Floats, shift_y: Floats, step: int, window: tuple[slice, slice], sharpening: float
) -> tuple[Floats, Floats]:
    """A picture with the pixels of a window taken from elsewhere, and the finest band of that window's lightness.

    Args:
        picture: (height, width, 3), at least 2 x 2.
        shift_x: (rows, columns) on the window's cells of `step` x `step` pixels: where a pixel comes from, in pixels
            from its own place. Linear between the centres of cells.
        shift_y: As `shift_x`.
        step: Pixels a side of a cell.
        window: Rows and columns of the picture.
        sharpening: What is given back of the finest band, for each unit of what linear interpolation takes: 0 at
            pixel centres, 1/4 half-way between in each direction.

    Returns:
        (height, width, 3), unmoved pixels bit for bit; and (rows, columns of the window).
    """
    if min(picture.shape[:2]) < 2:
        raise ValueError(f"picture has {picture.shape[0]} x {picture.shape[1]} pixels, the kernel needs 2 x 2")
    (top, high), (left, wide) = ((one.start, one.stop - one.start) for one in window)
    moved, detail = np.empty_like(picture), np.empty((high, wide), np.float32)
    _MOVE(
        packed("picture", picture, np.float32, (None, None, 3)),
        *picture.shape[:2],
        packed("shift_x", shift_x, np.float32, (None, None)),
        packed("shift_y", shift_y, np.float32, shift_x.shape),
        *shift_x.shape,
        *(step, top, left),
        packed("moved", moved, np.float32, picture.shape, written=True),
        packed("detail", detail, np.float32, detail.shape),
        *(high, wide, sharpening),
    )
    return moved, detail


def draw(
    texture: Floats, u: Floats, v: Floats, factor: Floats, base: Floats, step: int, size: tuple[int, int]
) -> tuple[Floats, Floats]:
    """`texture` at u, v times `factor` plus `base`, at each pixel of a window, and the lightness of that.

    Args:
        texture: (side, side, 4), at least 2 x 2.
        u: (rows, columns) 0..1 from edge to edge of the texture, on cells of `step` x `step` pixels.
        v: As `u`, downwards.
        factor: (rows, columns, 4).
        base: (rows, columns, 4).
        step: Pixels a side of a cell.
        size: Height and width in pixels.

    Returns:
        (height, width, 4) and (height, width).
    """
    side = texture.shape[0]
    drawn, grey = np.empty((*size, 4), np.float32), np.empty(size, np.float32)
    _DRAW(
        packed("texture", texture, np.float32, (side, side, 4)),
        side,
        packed("u", u, np.float32, (None, None)),
        packed("v", v, np.float32, u.shape),
        packed("factor", factor, np.float32, (*u.shape, 4)),
        packed("base", base, np.float32, (*u.shape, 4)),
        *u.shape,
        step,
        packed("drawn", drawn, np.float32, drawn.shape),
        packed("grey", grey, np.float32, grey.shape),
        *size,
    )
    return drawn, grey


def enlarge_product(one: Floats, step: int, other: Floats, other_step: int, size: tuple[int, int]) -> Floats:
    """Product (height, width) of two fields on cells of `step` and `other_step` pixels a side, linear between."""
    product = np.empty(size, np.float32)
    _PRODUCT(
        packed("one", one, np.float32, (None, None)),
        *(*one.shape, step),
        packed("other", other, np.float32, (None, None)),
        *(*other.shape, other_step),
        packed("product", product, np.float32, size),
        *size,
    )
    return product


def quiet(band: Floats, limit: float) -> Floats:
    """Where a band of detail (height, width) is quiet, on cells of 2 x 2 pixels; its rows may lie apart.

    Returns:
        1 up to a mean size of `limit` over 3 x 3 cells, 0 from twice that, linear between. The band goes on beyond its
        end as it is there.
    """
    address, stride = rows("band", band, np.float32, (None, None))
    height, width = band.shape
    result = np.empty((-(-height // 2), -(-width // 2)), np.float32)
    _QUIET(address, stride, height, width, limit, packed("quiet", result, np.float32, result.shape))
    return result


def lay_over(
    picture: Floats,
    drawn: Floats,
    opacity: Floats,
    grain: tuple[Floats, Floats, Floats],
    step: int,
    *,
    soften: tuple[Floats, float] | None = None,
    smooth: tuple[Floats, float, Floats] | None = None,
) -> None:
    """Lay what is drawn over a picture, in place, with the picture's own grain and less of the drawing's.

    Args:
        picture: (height, width, 3), rows may lie apart.
        drawn: (height, width, 4).
        opacity: (height, width) 0..1.
        grain: The picture's finest band (height, width), rows may lie apart; times a field on cells of 2 x 2 pixels;
            times a field (rows, columns) on cells of `step` x `step`.
        step: Pixels a side of a cell.
        soften: A band (height, width) of what is drawn, and how much of it is taken away.
        smooth: As `soften`, but only as far as a field (rows, columns) is below 1.
    """
    size = picture.shape[:2]
    detail, quiet, share = grain
    address, stride = rows("picture", picture, np.float32, (*size, 3), written=True)
    band, band_stride = rows("detail", detail, np.float32, size)
    fine, softness = (packed("fine", soften[0], np.float32, size), soften[1]) if soften else (None, 0.0)
    skin, smoothness = (packed("skin", smooth[0], np.float32, size), smooth[1]) if smooth else (None, 0.0)
    _LAY_OVER(
        *(address, stride),
        packed("drawn", drawn, np.float32, (*size, 4)),
        packed("opacity", opacity, np.float32, size),
        *(band, band_stride),
        packed("quiet", quiet, np.float32, (None, None)),
        *quiet.shape,
        packed("share", share, np.float32, (None, None)),
        packed("parts", smooth[2], np.float32, share.shape) if smooth else None,
        *(*share.shape, step),
        *(fine, softness, skin, smoothness),
        *size,
    )


def draw_triangles(points: Floats, values: Floats, triangles: NDArray[np.integer[Any]], field: Floats) -> None:
    """Draw triangles in order into a field, in place.

    Args:
        points: (n, 2) x, y in cells; the first cell's centre is at 0, 0.
        values: (n, channels) what the points carry.
        triangles: (m, 3) indices of points, in either orientation.
        field: (height, width, channels).
    """
    corners = np.ascontiguousarray(triangles, np.int32)
    if corners.size and not 0 <= corners.min() <= corners.max() < len(points):
        raise ValueError(f"triangles name points {corners.min()} to {corners.max()}, there are {len(points)}")
    _TRIANGLES(
        packed("points", points, np.float32, (None, 2)),
        packed("triangles", corners, np.int32, (None, 3)),
        len(corners),
        packed("values", values, np.float32, (len(points), None)),
        values.shape[1],
        packed("field", field, np.float32, (None, None, values.shape[1]), written=True),
        *field.shape[:2],
    )
