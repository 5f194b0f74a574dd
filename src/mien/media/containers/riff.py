"""RIFF chunks, as WebP files are made of."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

ICC, ALPHA, EXIF, XMP, ANIMATION = 0x20, 0x10, 0x08, 0x04, 0x02
"""Flags of the VP8X chunk."""


def read_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and contents of the chunks of a WebP file, up to the first that is cut short."""
    offset = 12
    while offset + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, offset)
        yield name, data[offset + 8 : offset + 8 + size]
        offset += 8 + size + size % 2


class Summary(NamedTuple):
    """What an animated WebP file says beside its pixels."""

    durations_ms: list[int]
    loop: int
    """Repetitions, 0 = for ever."""
    background: bytes
    """Colour hint for viewers, 4 bytes BGRA."""
    alpha: bool
    lossless: bool
    """Whether every frame is."""


def read_summary(data: bytes) -> Summary:
    """Walk over all chunks."""
    durations, loop, background, flags, lossy = list[int](), 0, bytes(4), 0, False
    for name, body in read_chunks(data):
        if name == b"VP8X" and body:
            flags = body[0]
        elif name == b"ANIM" and len(body) >= 6:
            background, (loop,) = body[:4], struct.unpack_from("<H", body, 4)
        elif name == b"ANMF" and len(body) >= 16:
            durations.append(int.from_bytes(body[12:15], "little"))
            # 12 bytes before the frame's own chunks, as in a file.
            lossy |= any(inner == b"VP8 " for inner, _ in read_chunks(body[4:]))
    return Summary(durations, loop, background, bool(flags & ALPHA), not lossy)


def pack_chunk(name: bytes, data: bytes) -> bytes:
    """One chunk, padded to an even size."""
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
