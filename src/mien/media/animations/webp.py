"""Animated WebP: each changed rectangle coded as a still, lossless where the source is."""

from __future__ import annotations

import io
import struct
from fractions import Fraction
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.geometry import Rect
from mien.media.animations.encoder import AnimationInfo, Rgba, area_of
from mien.media.containers import riff
from mien.media.metadata import Metadata
from mien.media.stills.still import VISUALLY_LOSSLESS

_REPLACE = 0x02
"""Flag of a frame: it replaces what is under it, transparency included."""

_PIXEL_CHUNKS = (b"ALPH", b"VP8 ", b"VP8L")


def describe(data: bytes, image: Image.Image) -> AnimationInfo:
    """Read what a file says."""
    summary = riff.read_summary(data)
    return AnimationInfo(
        format="WEBP",
        stored_width=image.width,
        stored_height=image.height,
        durations_s=tuple(Fraction(duration, 1000) for duration in summary.durations_ms) or (Fraction(0),),
        loop=summary.loop,
        has_alpha=summary.alpha,
        metadata=Metadata.of(image.info),
        details=summary,
    )


class WebpEncoder:
    """Times are rounded to whole milliseconds without drifting away."""

    def __init__(self, file: BinaryIO, info: AnimationInfo) -> None:
        own: riff.Summary | None = info.details if info.format == "WEBP" else None
        lossless, metadata = own is None or own.lossless, info.metadata
        self._file = file
        self._mode = "RGBA" if info.has_alpha else "RGB"
        self._options = {"lossless": lossless, "quality": 75 if lossless else VISUALLY_LOSSLESS, "exact": True}
        self._metadata = metadata
        self._canvas: Rgba | None = None
        self._time, self._time_ms = Fraction(0), 0
        flags = riff.ANIMATION | (riff.ALPHA if info.has_alpha else 0) | (riff.ICC if metadata.icc else 0)
        flags |= (riff.EXIF if metadata.exif else 0) | (riff.XMP if metadata.xmp else 0)
        file.write(b"RIFF\0\0\0\0WEBP")
        canvas = struct.pack("<I", flags) + _u24(info.stored_width - 1) + _u24(info.stored_height - 1)
        file.write(riff.pack_chunk(b"VP8X", canvas))
        if metadata.icc:
            file.write(riff.pack_chunk(b"ICCP", metadata.icc))
        background = own.background if own else bytes(4)
        file.write(riff.pack_chunk(b"ANIM", background + struct.pack("<H", info.loop)))

    def write(self, rgba: Rgba, edited: NDArray[np.bool_], duration_s: Fraction) -> None:  # noqa: ARG002
        """See `Encoder`."""
        self._time += duration_s
        duration_ms = round(self._time * 1000) - self._time_ms
        self._time_ms += duration_ms
        height, width = rgba.shape[:2]
        if self._canvas is None:
            area = Rect(0, 0, width, height)
        else:
            # Frames start at even pixels.
            area = area_of((rgba != self._canvas).any(axis=2)).align(2, width, height) or Rect(0, 0, width, height)
        place = _u24(area.x // 2) + _u24(area.y // 2) + _u24(area.width - 1) + _u24(area.height - 1)
        body = place + _u24(duration_ms) + bytes((_REPLACE,)) + self._compress(rgba[area.slices])
        self._file.write(riff.pack_chunk(b"ANMF", body))
        self._canvas = rgba.copy()

    def finish(self) -> None:
        """See `Encoder`."""
        if self._metadata.exif:
            self._file.write(riff.pack_chunk(b"EXIF", self._metadata.exif))
        if self._metadata.xmp:
            self._file.write(riff.pack_chunk(b"XMP ", self._metadata.xmp))
        size = self._file.tell()
        self._file.seek(4)
        self._file.write(struct.pack("<I", size - 8))

    def _compress(self, rgba: Rgba) -> bytes:
        buffer = io.BytesIO()
        picture = np.ascontiguousarray(rgba[..., : len(self._mode)])
        Image.fromarray(picture).save(buffer, "WEBP", **self._options)
        chunks = riff.read_chunks(buffer.getvalue())
        return b"".join(riff.pack_chunk(name, data) for name, data in chunks if name in _PIXEL_CHUNKS)


def _u24(value: int) -> bytes:
    return value.to_bytes(3, "little")
