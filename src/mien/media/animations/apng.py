"""Animated PNG (PNG, third edition): lossless, only the rectangle that changed since the last frame."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.geometry import Rect
from mien.media.animations.encoder import AnimationInfo, Rgba, area_of
from mien.media.containers import png
from mien.media.containers.png import Chunk, Header
from mien.media.metadata import Metadata
from mien.media.stills.png import carried_chunks, chunks_with_xmp, metadata_chunks

_MAX_16_BIT = 65535


def describe(data: bytes, image: Image.Image) -> AnimationInfo:
    """Read what a file says."""
    header, animation = png.read_header(data), png.read_animation(data)
    if animation is None:
        animation = png.Animation([Fraction(0)], 1, hidden_first=False)
    chunks = tuple(png.read_chunks(data))
    has_key = any(chunk.name == b"tRNS" for chunk in chunks)
    return AnimationInfo(
        format="PNG",
        stored_width=header.width,
        stored_height=header.height,
        durations_s=(Fraction(0),) * animation.hidden_first + tuple(animation.durations_s),
        loop=animation.loop,
        has_alpha=has_key or header.colour in (png.GREY_ALPHA, png.RGBA),
        hidden_first=animation.hidden_first,
        metadata=Metadata.of(image.info),
        details=carried_chunks(chunks, without=(b"tRNS", b"bKGD", b"sBIT", b"hIST")),
        warnings=("16 bits of an animated PNG are rounded to 8",) if header.depth == 16 else (),
    )


def _chunks(info: AnimationInfo) -> Sequence[Chunk]:
    """What is said beside the pixels."""
    if info.format != "PNG":
        return metadata_chunks(info.metadata)
    return chunks_with_xmp(info.details, info.metadata.xmp) if info.metadata.xmp else info.details


class ApngEncoder:
    """RGB, or RGBA if the source has transparency, 8 bits."""

    def __init__(self, file: BinaryIO, info: AnimationInfo) -> None:
        self._file = file
        self._header = Header(info.stored_width, info.stored_height, 8, png.RGBA if info.has_alpha else png.RGB)
        self._hidden_first = info.hidden_first
        self._loop = info.loop
        self._canvas: Rgba | None = None
        self._written = self._sequence = 0
        file.write(png.SIGNATURE + self._header.pack().pack())
        self._control_at = file.tell()
        self._put(self._control())
        for chunk in _chunks(info):
            self._put(chunk)

    def write(self, rgba: Rgba, edited: NDArray[np.bool_], duration_s: Fraction) -> None:  # noqa: ARG002
        """See `Encoder`."""
        if self._canvas is None:
            if not self._hidden_first:
                self._put_control(Rect(0, 0, self._header.width, self._header.height), duration_s)
            self._put(Chunk(b"IDAT", self._compress(rgba)))
        else:
            area = area_of((rgba != self._canvas).any(axis=2))
            if self._written == 0:  # the first that is shown covers everything
                area = Rect(0, 0, self._header.width, self._header.height)
            self._put_control(area, duration_s)
            self._put(Chunk(b"fdAT", self._next_number() + self._compress(rgba[area.slices])))
        self._canvas = rgba.copy()

    def finish(self) -> None:
        """See `Encoder`."""
        self._put(Chunk(b"IEND", b""))
        self._file.seek(self._control_at)
        self._put(self._control())

    def _control(self) -> Chunk:
        return Chunk(b"acTL", struct.pack(">II", self._written, self._loop))

    def _put_control(self, area: Rect, duration_s: Fraction) -> None:
        delay = duration_s.limit_denominator(_MAX_16_BIT)
        if delay.numerator > _MAX_16_BIT:
            delay = Fraction(min(round(duration_s), _MAX_16_BIT))
        # Dispose: leave; blend: replace.
        body = struct.pack(
            ">IIIIHHBB", area.width, area.height, area.x, area.y, delay.numerator, delay.denominator, 0, 0
        )
        self._put(Chunk(b"fcTL", self._next_number() + body))
        self._written += 1

    def _next_number(self) -> bytes:
        self._sequence += 1
        return struct.pack(">I", self._sequence - 1)

    def _compress(self, rgba: Rgba) -> bytes:
        height, width = rgba.shape[:2]
        channels = 4 if self._header.colour == png.RGBA else 3
        return png.compress(Header(width, height, 8, self._header.colour), rgba[..., :channels])

    def _put(self, chunk: Chunk) -> None:
        self._file.write(chunk.pack())
