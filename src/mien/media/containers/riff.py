"""RIFF chunks, as WebP files are made of."""

from __future__ import annotations

import struct
from collections.abc import Iterator


def read_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and contents of the chunks of a WebP file, up to the first that is cut short."""
    offset = 12
    while offset + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, offset)
        yield name, data[offset + 8 : offset + 8 + size]
        offset += 8 + size + size % 2


def pack_chunk(name: bytes, data: bytes) -> bytes:
    """One chunk, padded to an even size."""
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
