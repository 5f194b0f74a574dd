"""A decoded picture in its own planes: rectangles of it as RGB, and edits added back to the stored samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import cv2
import numpy as np
from av.video.frame import VideoFrame as Picture
from numpy.typing import NDArray

from mien.geometry import Rect
from mien.media import faint
from mien.media.colour import Colour, Float, tone_map
from mien.media.orientation import Orientation
from mien.native import planes as kernels

Plane = NDArray[Any]
"""Samples of one plane, uint8 or uint16: (h, w), or (h, w, channels) where they are packed."""


@dataclass(frozen=True, slots=True)
class PixelLayout:
    """How a pixel format lays samples out."""

    family: Literal["yuv", "grey", "rgb"]
    bits: int
    """Bits per sample; above 8 samples are little-endian 16-bit words."""
    shift_x: int = 0
    """log2 of the columns a chroma sample spans."""
    shift_y: int = 0
    """log2 of the rows a chroma sample spans."""
    full: bool = False
    """True where samples span all codes unless the stream says otherwise."""
    packed: int = 0
    """Channels of the only plane, or 0 for one plane per channel."""
    channels: tuple[int, int, int] = (0, 1, 2)
    """Planes (or packed channels) of red, green, blue, or of Y, Cb, Cr."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of a stored sample."""
        return np.dtype(np.uint8 if self.bits == 8 else "<u2")

    @classmethod
    def named(cls, pixel_format: str) -> PixelLayout | None:
        """Layout of a pixel format by FFmpeg's name, or None if its samples cannot be edited in place."""
        return _layout(pixel_format)


_CHROMA_SHIFTS = {"444": (0, 0), "422": (1, 0), "420": (1, 1), "440": (0, 1), "411": (2, 0), "410": (2, 2)}


@lru_cache(maxsize=64)
def _layout(name: str) -> PixelLayout | None:
    if match := re.fullmatch(r"yuv([ja]?)(444|422|420|440|411|410)p(?:(9|10|12|14|16)le)?", name):
        return PixelLayout("yuv", int(match[3] or 8), *_CHROMA_SHIFTS[match[2]], full=match[1] == "j")
    if match := re.fullmatch(r"gray(?:(9|10|12|14|16)le)?", name):
        return PixelLayout("grey", int(match[1] or 8), full=True)
    if match := re.fullmatch(r"gbra?p(?:(9|10|12|14|16)le)?", name):
        return PixelLayout("rgb", int(match[1] or 8), full=True, channels=(2, 0, 1))
    if match := re.fullmatch(r"([rgba0]{3,4})(24|48le|64le|)", name):
        return _packed_layout(match[1], match[2])
    return None


def _packed_layout(order: str, depth: str) -> PixelLayout | None:
    widths = {3: ("24", "48le"), 4: ("", "64le")}[len(order)]
    if depth not in widths or not all(order.count(colour) == 1 for colour in "rgb"):
        return None
    red, green, blue = (order.index(colour) for colour in "rgb")
    return PixelLayout(
        "rgb", 16 if depth.endswith("le") else 8, full=True, packed=len(order), channels=(red, green, blue)
    )


def nearest_editable(pixel_format: str) -> tuple[str, bool]:
    """A format that can be edited in place, and whether going there loses nothing."""
    if PixelLayout.named(pixel_format):
        return pixel_format, True
    little = pixel_format.removesuffix("be") + "le"
    if pixel_format.endswith("be") and PixelLayout.named(little):
        return little, True
    return _CONVERSIONS.get(pixel_format, ("yuv444p16le", False))


_CONVERSIONS = {
    "nv12": ("yuv420p", True),
    "nv21": ("yuv420p", True),
    "nv16": ("yuv422p", True),
    "nv24": ("yuv444p", True),
    "nv42": ("yuv444p", True),
    "yuyv422": ("yuv422p", True),
    "uyvy422": ("yuv422p", True),
    "yvyu422": ("yuv422p", True),
    "p010le": ("yuv420p10le", True),
    "p012le": ("yuv420p12le", True),
    "p016le": ("yuv420p16le", True),
    "p210le": ("yuv422p10le", True),
    "p216le": ("yuv422p16le", True),
    "y210le": ("yuv422p10le", True),
    "nv20le": ("yuv422p10le", True),
    "uyyvyy411": ("yuv411p", True),
    "pal8": ("rgba", True),
    "rgb8": ("rgb24", True),
    "bgr8": ("rgb24", True),
    "rgb555le": ("rgb24", True),
    "rgb555be": ("rgb24", True),
    "rgb565le": ("rgb24", True),
    "rgb565be": ("rgb24", True),
    "monow": ("gray", True),
    "monob": ("gray", True),
    "ya8": ("rgba", True),
    "ya16le": ("rgba64le", True),
    "x2rgb10le": ("gbrp10le", True),
}


def plane_arrays(picture: Picture, layout: PixelLayout) -> list[Plane]:
    """Views of the picture's memory, one per plane, cut to the picture's size."""
    arrays: list[Plane] = []
    for plane in picture.planes:
        samples = np.frombuffer(plane, layout.dtype)  # pyright: ignore[reportArgumentType, reportCallIssue]
        rows = samples.reshape(plane.height, plane.line_size // layout.dtype.itemsize)
        if layout.packed:
            arrays.append(rows[:, : plane.width * layout.packed].reshape(plane.height, plane.width, layout.packed))
        else:
            arrays.append(rows[:, : plane.width])
    return arrays


class PlaneFrame:
    """A picture in the decoder's planes; implements `Frame`. Stored samples change only in `apply`."""

    __slots__ = ("_planes", "_writable", "colour", "index", "layout", "orientation", "picture", "time_s")

    def __init__(
        self, picture: Picture, *, index: int, time_s: float, colour: Colour, orientation: Orientation
    ) -> None:
        """Wrap `picture`, whose pixel format must have a `PixelLayout`."""
        layout = PixelLayout.named(picture.format.name)
        if layout is None:
            raise ValueError(f"pixel format {picture.format.name} cannot be edited in place")
        self.picture = picture
        self.index = index
        self.time_s = time_s
        self.colour = colour
        self.orientation = orientation
        self.layout = layout
        self._planes = plane_arrays(picture, layout)
        self._writable = False

    @property
    def width(self) -> int:
        """Columns of the upright picture."""
        return self.orientation.size(self.picture.width, self.picture.height)[0]

    @property
    def height(self) -> int:
        """Rows of the upright picture."""
        return self.orientation.size(self.picture.width, self.picture.height)[1]

    @property
    def step(self) -> int:
        """Pixels a chroma sample spans."""
        return 1 << max(self.layout.shift_x, self.layout.shift_y)

    def display(self, rect: Rect | None = None, *, max_side: int | None = None) -> NDArray[np.uint8]:
        """RGB uint8 as a person would see it; see `Frame.display`."""
        rect = rect or Rect(0, 0, self.width, self.height)
        stored = self.orientation.stored_rect(rect, self.width, self.height)
        size = _shrunk(stored.width, stored.height, max_side)
        if self.layout.bits == 8 and not self.colour.converts:
            rgb = self._rgb(stored, size)
        else:
            coded = self._rgb(stored, size, np.float32)
            shown = self.colour.to_working(coded)
            if self.colour.converts:
                shown = tone_map(shown)
            rgb = cv2.convertScaleAbs(np.clip(shown, 0, 1), alpha=255)
        return np.ascontiguousarray(self.orientation.upright(rgb))

    def working(self, rect: Rect) -> Float:
        """Working RGB float32; see `Frame.working`."""
        stored = self.orientation.stored_rect(rect, self.width, self.height)
        if self.layout.family == "yuv":
            coded = kernels.rgb_of(self._samples, stored.slices, self._to_rgb())
        else:
            coded = self._rgb(stored, (stored.width, stored.height), np.float32)
        return np.ascontiguousarray(self.orientation.upright(self.colour.to_working(coded)))

    def apply(self, rect: Rect, before: Float, after: Float) -> None:
        """Add `after - before` to the stored samples; see `Frame.apply`."""
        if not kernels.differ(before, after):
            return
        self._make_writable()
        rect = self.orientation.stored_rect(rect, self.width, self.height)
        before, after = (
            np.ascontiguousarray(self.orientation.stored(self.colour.from_working(one))) for one in (before, after)
        )
        if self.layout.family == "yuv":
            most = 2**self.layout.bits - 1
            kernels.add_to(self._samples, rect.slices, self._from_rgb(), before, after, most)
            return
        change = cv2.subtract(after, before)
        if self.layout.family == "grey":
            luma = cv2.transform(change, self._from_rgb()[:1])
            _add(self._planes[0][rect.slices], luma, self.layout.bits)
        else:
            self._add_rgb(rect, change * np.float32(2**self.layout.bits - 1))

    @property
    def subtle(self) -> bool:
        """Whether small changes of colour can be kept."""
        return True

    def glance(self, width: int, height: int) -> NDArray[np.uint8]:
        """Brightness (height, width) of the upright picture in 8 bits, of single samples: rough and cheap."""
        planes = self._bright_planes()
        stored = planes[len(planes) // 2]  # green tells most of the three
        few = cv2.resize(stored, self.orientation.size(width, height), interpolation=cv2.INTER_LINEAR)
        coarse = cv2.convertScaleAbs(few, alpha=2.0 ** (8 - self.layout.bits))
        return np.ascontiguousarray(self.orientation.upright(np.asarray(coarse, np.uint8)))

    def brighten(self, pattern: faint.Pattern) -> float:
        """Add a faint pattern to the brightness, and return its mean square in 8-bit codes; see `mien.media.faint`."""
        self._make_writable()
        coarse = np.ascontiguousarray(self.orientation.stored(pattern))
        squares = [faint.add(plane, coarse, self.layout.bits) for plane in self._bright_planes()]
        return sum(squares) / len(squares)

    def _bright_planes(self) -> list[Plane]:
        """What makes a pixel brighter: luma, or all three colours."""
        if self.layout.family != "rgb":
            return self._planes[:1]
        if self.layout.packed:
            return [self._planes[0][..., channel] for channel in self.layout.channels]
        return [self._planes[channel] for channel in self.layout.channels]

    def _make_writable(self) -> None:
        # The decoder may still predict from this memory: the first edit moves to a copy of our own.
        if not self._writable:
            self._planes = []
            self.picture.make_writable()
            self._planes = plane_arrays(self.picture, self.layout)
            self._writable = True

    def _rgb(self, rect: Rect, size: tuple[int, int], dtype: type[Any] = np.uint8) -> NDArray[Any]:
        """Stored R'G'B' of a stored rectangle at `size`: uint8 0..255 (8-bit formats), or float32 0..1."""
        if self.layout.family == "rgb":
            return self._rgb_of_rgb(rect, size, dtype)
        luma = _resize(self._planes[0][rect.slices], size)
        if self.layout.family == "grey":
            samples = cv2.merge([luma, luma, luma])
            matrix = np.eye(3, dtype=np.float32)
            scale, _, offset = self.colour.scale(self.layout.bits)
            return _transform(samples, matrix / np.float32(scale), np.full(3, -offset / scale), dtype)
        samples = cv2.merge([luma, *(self._chroma(plane, rect, size) for plane in self._planes[1:3])])
        affine = self._to_rgb()
        return _transform(samples, affine[:, :3], affine[:, 3], dtype)

    @property
    def _samples(self) -> kernels.Planes:
        luma, cb, cr = self._planes[:3]
        return kernels.Planes(luma, cb, cr, 1 << self.layout.shift_x, 1 << self.layout.shift_y)

    def _to_rgb(self) -> Float:
        """(3, 4) from codes of Y', Cb, Cr and 1 to R'G'B'."""
        luma_scale, chroma_scale, offset = self.colour.scale(self.layout.bits)
        matrix = self.colour.to_rgb() / np.array([luma_scale, chroma_scale, chroma_scale], np.float32)
        middle = 2.0 ** (self.layout.bits - 1)
        return np.column_stack([matrix, -matrix.astype(np.float64) @ (offset, middle, middle)]).astype(np.float32)

    def _rgb_of_rgb(self, rect: Rect, size: tuple[int, int], dtype: type[Any]) -> NDArray[Any]:
        red, green, blue = self.layout.channels
        if self.layout.packed:
            packed = np.ascontiguousarray(self._planes[0][rect.slices])
            samples = _resize(cv2.merge([cv2.extractChannel(packed, i) for i in (red, green, blue)]), size)
        else:
            samples = cv2.merge([_resize(self._planes[i][rect.slices], size) for i in (red, green, blue)])
        if dtype is np.uint8:
            return samples
        return samples.astype(np.float32) * np.float32(1 / (2**self.layout.bits - 1))

    def _chroma(self, plane: Plane, rect: Rect, size: tuple[int, int]) -> Plane:
        """Chroma samples of a rectangle in luma pixels, brought to `size`."""
        shift_x, shift_y = self.layout.shift_x, self.layout.shift_y
        if size != (rect.width, rect.height):
            right, bottom = -(-rect.right >> shift_x), -(-rect.bottom >> shift_y)
            return _resize(plane[rect.y >> shift_y : bottom, rect.x >> shift_x : right], size)
        if not shift_x and not shift_y:
            return plane[rect.slices]
        # One sample more on each side, so that a pixel's chroma does not depend on the rectangle asked for.
        left, top = max((rect.x >> shift_x) - 1, 0), max((rect.y >> shift_y) - 1, 0)
        right, bottom = (rect.right - 1 >> shift_x) + 2, (rect.bottom - 1 >> shift_y) + 2
        part = plane[top:bottom, left:right]
        grown = cv2.resize(part, (part.shape[1] << shift_x, part.shape[0] << shift_y), interpolation=cv2.INTER_LINEAR)
        x, y = rect.x - (left << shift_x), rect.y - (top << shift_y)
        return grown[y : y + rect.height, x : x + rect.width]

    def _from_rgb(self) -> Float:
        """(3, 3) from R'G'B' differences to code differences of Y', Cb, Cr."""
        luma_scale, chroma_scale, _ = self.colour.scale(self.layout.bits)
        return self.colour.to_yuv() * np.array([[luma_scale], [chroma_scale], [chroma_scale]], np.float32)

    def _add_rgb(self, rect: Rect, change: Float) -> None:
        for channel, target in enumerate(self.layout.channels):
            plane = self._planes[0][..., target] if self.layout.packed else self._planes[target]
            _add(plane[rect.slices], cv2.extractChannel(change, channel), self.layout.bits)


def _shrunk(width: int, height: int, max_side: int | None) -> tuple[int, int]:
    longer = max(width, height)
    if max_side is None or longer <= max_side:
        return width, height
    return max(round(width * max_side / longer), 1), max(round(height * max_side / longer), 1)


def _resize(samples: Plane, size: tuple[int, int]) -> Plane:
    width, height = samples.shape[1], samples.shape[0]
    if size == (width, height):
        return samples
    if size[0] > width or size[1] > height:
        return cv2.resize(samples, size, interpolation=cv2.INTER_LINEAR)
    # Halving is several times cheaper than averaging over a fraction of pixels, and exact where the sizes are even.
    while width % 2 == 0 and height % 2 == 0 and width >= 2 * size[0] and height >= 2 * size[1]:
        width, height = width // 2, height // 2
        samples = cv2.resize(samples, (width, height), interpolation=cv2.INTER_AREA)
    return cv2.resize(samples, size, interpolation=cv2.INTER_AREA)


def _transform(samples: Plane, matrix: Float, offset: Sequence[float] | NDArray[Any], dtype: type[Any]) -> NDArray[Any]:
    """`matrix @ samples + offset`, as float32 or (scaled by 255, saturated) as uint8."""
    affine = np.column_stack([matrix, offset]).astype(np.float32)
    if dtype is np.uint8:
        return cv2.transform(samples, affine * np.float32(255))
    return cv2.transform(samples.astype(np.float32), affine)


def _add(samples: Plane, change: Plane, bits: int) -> None:
    """Add in place, rounded to nearest, kept within `bits`."""
    depth = cv2.CV_8U if bits == 8 else cv2.CV_16U
    total = cv2.add(samples, change, dtype=depth)
    samples[...] = total if bits in (8, 16) else np.minimum(total, 2**bits - 1)
