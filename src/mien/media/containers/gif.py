"""GIF 89a: blocks read and written; the pixels' LZW code is Pillow's."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_EXTENSION, _IMAGE, TRAILER = 0x21, 0x2C, b"\x3b"
_CONTROL, _COMMENT, _APPLICATION = 0xF9, 0xFE, 0xFF
_LOOP_NAMES = (b"NETSCAPE2.0", b"ANIMEXTS1.0")

_XMP_NAME = b"XMP DataXMP"
_XMP_TRAILER = bytes((1, *range(255, -1, -1), 0))
"""XMP stands in a GIF as it is, not in blocks: whoever takes its bytes for lengths of blocks ends in here, at the last
zero (XMP specification, part 3, 1.1.2)."""

LEAVE, CLEAR = 1, 2
"""What happens to a picture before the next one is drawn: it stays, or its rectangle becomes transparent."""


class Summary(NamedTuple):
    """What a GIF file says beside its pixels."""

    width: int
    height: int
    delays_cs: list[int]
    """Hundredths of a second, one a picture."""
    repetitions: int | None
    """0 = for ever; None = not said, which means none."""
    comments: list[bytes]
    xmp: bytes | None


def read_summary(data: bytes) -> Summary:
    """Walk over all blocks, up to the first that is cut short."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    delays, comments, repetitions, delay, xmp = list[int](), list[bytes](), None, 0, None
    offset = 13 + _table_size(flags)
    while offset + 2 <= len(data) and data[offset] in (_EXTENSION, _IMAGE):
        if data[offset] == _IMAGE:
            if offset + 10 > len(data):
                break
            delays.append(delay)
            offset += 10 + _table_size(data[offset + 9]) + 1
        else:
            kind, blocks = data[offset + 1], list(_sub_blocks(data, offset + 2))
            if kind == _CONTROL and blocks and len(blocks[0]) >= 4:
                (delay,) = struct.unpack_from("<H", blocks[0], 1)
            elif kind == _COMMENT:
                comments.append(b"".join(blocks))
            elif kind == _APPLICATION and len(blocks) > 1 and blocks[0] in _LOOP_NAMES and len(blocks[1]) >= 3:
                (repetitions,) = struct.unpack_from("<H", blocks[1], 1)
            elif kind == _APPLICATION and blocks[:1] == [_XMP_NAME]:
                start = offset + 3 + len(_XMP_NAME)
                end = data.find(_XMP_TRAILER, start)
                xmp = data[start:end] if end >= 0 else None
            offset += 2
        offset += sum(len(block) + 1 for block in _sub_blocks(data, offset)) + 1
    return Summary(width, height, delays, repetitions, comments, xmp)


def pack_header(
    width: int, height: int, repetitions: int | None, comments: list[bytes], xmp: bytes | None = None
) -> bytes:
    """Everything before the first picture; palettes are the pictures' own."""
    parts = [b"GIF89a", struct.pack("<HHBBB", width, height, 0x70, 0, 0)]
    if repetitions is not None:
        parts.append(
            bytes((_EXTENSION, _APPLICATION)) + _pack_blocks(_LOOP_NAMES[0], struct.pack("<BH", 1, repetitions))
        )
    for comment in comments:
        blocks = [comment[start : start + 255] for start in range(0, len(comment), 255)]
        parts.append(bytes((_EXTENSION, _COMMENT)) + _pack_blocks(*blocks))
    if xmp:
        parts.append(bytes((_EXTENSION, _APPLICATION, len(_XMP_NAME))) + _XMP_NAME + xmp + _XMP_TRAILER)
    return b"".join(parts)


def pack_picture(
    indices: NDArray[np.uint8],
    palette: NDArray[np.uint8],
    *,
    x: int,
    y: int,
    delay_cs: int,
    disposal: int,
    transparent: int | None,
) -> bytes:
    """One picture: (height, width) indices at `x`, `y`, with its own palette (entries, 3) of up to 256 colours."""
    height, width = indices.shape
    bits = max((len(palette) - 1).bit_length(), 1)
    table = palette.tobytes().ljust(3 << bits, b"\0")
    flags = disposal << 2 | (transparent is not None)
    control = _pack_blocks(struct.pack("<BHB", flags, delay_cs, transparent or 0))
    descriptor = struct.pack("<BHHHHB", _IMAGE, x, y, width, height, 0x80 | bits - 1)
    return bytes((_EXTENSION, _CONTROL)) + control + descriptor + table + _compress(indices)


def _compress(indices: NDArray[np.uint8]) -> bytes:
    """LZW code with its size byte and sub-blocks, taken out of a whole file made by Pillow."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(indices)).save(buffer, "GIF", optimize=False, interlace=False)
    data = buffer.getvalue()
    offset = 13 + _table_size(data[10])
    while data[offset] == _EXTENSION:
        offset += 2
        offset += sum(len(block) + 1 for block in _sub_blocks(data, offset)) + 1
    start = offset + 10 + _table_size(data[offset + 9])
    return data[start : -len(TRAILER)]


def _table_size(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _sub_blocks(data: bytes, offset: int) -> Iterator[bytes]:
    while offset < len(data) and data[offset]:
        yield data[offset + 1 : offset + 1 + data[offset]]
        offset += 1 + data[offset]


def _pack_blocks(*blocks: bytes) -> bytes:
    return b"".join(bytes((len(block),)) + block for block in blocks) + b"\0"
