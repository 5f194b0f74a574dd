"""PNG (ISO/IEC 15948), written here because Pillow has no 16-bit colour and rewrites palettes and texts."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
"""Colour types."""

_ROWS_PER_BLOCK = 256
"""Rows filtered at once: bounds the memory of the filter search."""


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
    rows = _pack_rows(samples, header.depth)
    distance = max(samples.shape[2] * header.depth // 8, 1)
    # Filters do not pay below 8 bits and for palettes (12.7 in the standard).
    plain = header.depth < 8 or header.colour == PALETTE
    deflate = zlib.compressobj(6)
    above = np.zeros_like(rows[:1])
    parts: list[bytes] = []
    for start in range(0, len(rows), _ROWS_PER_BLOCK):
        block = np.concatenate([above, rows[start : start + _ROWS_PER_BLOCK]])
        filtered = _unfiltered(block[1:]) if plain else _filter(block, distance)
        parts.append(deflate.compress(filtered.tobytes()))
        above = block[-1:]
    return b"".join([*parts, deflate.flush()])


def _pack_rows(samples: NDArray[np.uint8] | NDArray[np.uint16], depth: int) -> NDArray[np.uint8]:
    height = samples.shape[0]
    flat = samples.reshape(height, -1)
    if depth == 16:
        return flat.astype(">u2").view(np.uint8)
    if depth == 8:
        return flat.astype(np.uint8)
    bits = np.unpackbits(flat.astype(np.uint8)[..., None], axis=2)[..., 8 - depth :]
    return np.packbits(bits.reshape(height, -1), axis=1)


def _unfiltered(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.pad(rows, ((0, 0), (1, 0)))


def _filter(block: NDArray[np.uint8], distance: int) -> NDArray[np.uint8]:
    """Filter rows 1.. of `block` (row 0 is the row above), each by the filter with the smallest sum of differences."""
    rows, up = block[1:], block[:-1]
    left = np.pad(rows[:, :-distance], ((0, 0), (distance, 0)))
    corner = np.pad(up[:, :-distance], ((0, 0), (distance, 0)))
    mean = ((left.astype(np.uint16) + up) >> 1).astype(np.uint8)
    candidates = [rows, rows - left, rows - up, rows - mean, rows - _paeth(left, up, corner)]
    costs = [np.abs(candidate.view(np.int8).astype(np.int16)).sum(axis=1, dtype=np.int64) for candidate in candidates]
    best = np.argmin(costs, axis=0)
    result = np.empty((len(rows), rows.shape[1] + 1), np.uint8)
    result[:, 0] = best
    for number, candidate in enumerate(candidates):
        chosen = best == number
        result[chosen, 1:] = candidate[chosen]
    return result


def _paeth(left: NDArray[np.uint8], up: NDArray[np.uint8], corner: NDArray[np.uint8]) -> NDArray[np.uint8]:
    a, b, c = (plane.astype(np.int16) for plane in (left, up, corner))
    to_left, to_up, to_corner = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
    nearest_up = np.where(to_up <= to_corner, up, corner)
    return np.where((to_left <= to_up) & (to_left <= to_corner), left, nearest_up)
