"""Chunks of PNG (ISO/IEC 15948), written here because Pillow has no 16-bit colour and rewrites palettes and texts."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
"""Colour types."""

_NONE, _SUB = 0, 1
"""Filter types."""

_EFFORT = 3
"""Compression level: OpenCV's level 3 makes a photograph no larger than zlib's usual 6, in a third of the time."""


class Chunk(NamedTuple):
    """One chunk of a PNG file."""

    name: bytes
    data: bytes

    def pack(self) -> bytes:
        """As it is in the file: length, name, data, CRC."""
        body = self.name + self.data
        return struct.pack(">I", len(self.data)) + body + struct.pack(">I", zlib.crc32(body))


class Header(NamedTuple):
    """IHDR."""

    width: int
    height: int
    depth: int
    """Bits a sample."""
    colour: int
    """Colour type."""

    def pack(self) -> Chunk:
        """As a chunk; never interlaced."""
        return Chunk(b"IHDR", struct.pack(">IIBBBBB", *self, 0, 0, 0))


def read_header(data: bytes) -> Header:
    """Header of a PNG file."""
    return Header(*struct.unpack_from(">IIBB", data, 16))


def read_chunks(data: bytes) -> Iterator[Chunk]:
    """All chunks up to the end or the first that is cut short."""
    offset = len(SIGNATURE)
    while offset + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, offset)
        yield Chunk(name, data[offset + 8 : offset + 8 + length])
        offset += 12 + length


class Animation(NamedTuple):
    """What an animated PNG says beside its pixels."""

    durations_s: list[Fraction]
    loop: int
    """Repetitions, 0 = for ever."""
    hidden_first: bool
    """The main picture is no part of the animation."""


def read_animation(data: bytes) -> Animation | None:
    """Frame control of an animated PNG; None if it is a still."""
    durations, loop, hidden_first = list[Fraction](), None, False
    for name, body in read_chunks(data):
        if name == b"acTL" and len(body) >= 8:
            (loop,) = struct.unpack_from(">I", body, 4)
        elif name == b"fcTL" and len(body) >= 24:
            numerator, denominator = struct.unpack_from(">HH", body, 20)
            durations.append(Fraction(numerator, denominator or 100))
        elif name == b"IDAT" and not durations:
            hidden_first = True
    return None if loop is None else Animation(durations, loop, hidden_first)


def write(header: Header, chunks: Iterable[Chunk], samples: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    """A whole file: `chunks` go between header and pixels. `samples` as for `compress`."""
    body = [header.pack(), *chunks, Chunk(b"IDAT", compress(header, samples)), Chunk(b"IEND", b"")]
    return SIGNATURE + b"".join(chunk.pack() for chunk in body)


def compress(header: Header, samples: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    """The zlib stream of (height, width, channels) samples of the header's depth (1, 2, 4, 8 or 16 bits)."""
    if header.depth >= 8 and header.colour in (GREY, RGB, RGBA):
        return _compress_by_opencv(samples)
    rows = _pack_rows(samples, header.depth)
    kind = _NONE
    if header.depth >= 8 and header.colour != PALETTE:
        distance = samples.shape[2] * header.depth // 8
        rows, kind = rows - np.pad(rows[:, :-distance], ((0, 0), (distance, 0))), _SUB
    return zlib.compress(np.pad(rows, ((0, 0), (1, 0)), constant_values=kind).tobytes())


def _compress_by_opencv(samples: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    order = [2, 1, 0, 3][: samples.shape[2]] if samples.shape[2] > 1 else [0]
    done, data = cv2.imencode(".png", samples[..., order], [cv2.IMWRITE_PNG_COMPRESSION, _EFFORT])
    if not done:
        raise ValueError(f"the PNG encoder failed on {samples.shape} samples of {samples.dtype}")
    return b"".join(chunk.data for chunk in read_chunks(data.tobytes()) if chunk.name == b"IDAT")


def _pack_rows(samples: NDArray[np.uint8] | NDArray[np.uint16], depth: int) -> NDArray[np.uint8]:
    height = samples.shape[0]
    flat = samples.reshape(height, -1)
    if depth == 16:
        return flat.astype(">u2").view(np.uint8)
    if depth == 8:
        return flat.astype(np.uint8)
    bits = np.unpackbits(flat.astype(np.uint8)[..., None], axis=2)[..., 8 - depth :]
    return np.packbits(bits.reshape(height, -1), axis=1)
