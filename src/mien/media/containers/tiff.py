"""TIFF 6.0 directories, kept in the file's own byte order so that values are carried as they are."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC = 256, 257, 258, 259, 262
STRIP_OFFSETS, ORIENTATION, SAMPLES, ROWS_PER_STRIP, STRIP_SIZES, PLANAR = 273, 274, 277, 278, 279, 284
PREDICTOR, COLOUR_MAP, EXTRA_SAMPLES, XMP = 317, 320, 338, 700
TILE_OFFSETS, TILE_SIZES, JPEG_TABLES = 324, 325, 347
JPEG, DEFLATE, OLD_DEFLATE = 7, 8, 32946
"""Compressions."""
RESOLUTIONS, RESOLUTION_UNIT = (282, 283), 296
SUB_DIRECTORIES, PHOTOSHOP, PHOTOSHOP_LAYERS, PROFILE, CREDENTIALS = 330, 34377, 37724, 34675, 52545
DIRECTORIES = (34665, 34853, 40965)
"""Tags that point to a directory: EXIF, GPS, interoperability."""

_SHORT, _LONG = 3, 4
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
"""Bytes a value of each field type takes."""
_BIG_INTEGERS = (16, 17, 18)

Directory = Mapping[int, "Field"]


@dataclass(frozen=True, slots=True)
class Field:
    """The values of one tag."""

    kind: int
    """Field type."""
    count: int
    raw: bytes
    """Values in the file's byte order."""
    directory: Directory | None = None
    """What it points to, for `DIRECTORIES`."""


class Structure(NamedTuple):
    """The first directory of a file."""

    order: str
    """`<` or `>`, as `struct` writes byte order."""
    directory: Directory
    places: Mapping[int, int]
    """Tag -> offset of its value or of the pointer to it."""
    has_more: bool
    """Whether further pictures follow."""

    def numbers(self, tag: int) -> tuple[int, ...]:
        """Whole numbers of a tag; empty if it is not there."""
        field = self.directory.get(tag)
        code = {1: "B", 3: "H", 4: "I", 16: "Q"}.get(field.kind) if field else None
        return struct.unpack(f"{self.order}{field.count}{code}", field.raw) if field and code else ()


def shorts(order: str, *values: int) -> Field:
    """A field of 16-bit numbers."""
    return Field(_SHORT, len(values), struct.pack(f"{order}{len(values)}H", *values))


def longs(order: str, *values: int) -> Field:
    """A field of 32-bit numbers."""
    return Field(_LONG, len(values), struct.pack(f"{order}{len(values)}I", *values))


def read(data: bytes) -> Structure:
    """Read the first directory of a TIFF or BigTIFF file.

    Raises:
        ValueError: it is cut short.
    """
    order = ">" if data[:2] == b"MM" else "<"
    big = data[2:4] in (b"+\0", b"\0+")
    try:
        (offset,) = struct.unpack_from(order + ("Q" if big else "I"), data, 8 if big else 4)
        directory, places, following = _read_directory(data, order, offset, big=big)
    except struct.error as error:
        raise ValueError("the directory is truncated") from error
    return Structure(order, directory, places, following != 0)


def write(order: str, directory: Directory, strips: list[bytes]) -> bytes:
    """A whole file of one picture. The places and sizes of its strips, if there are any, are filled in here."""
    body = bytearray((b"MM\0*" if order == ">" else b"II*\0") + bytes(4))
    offsets: list[int] = []
    for strip in strips:
        offsets.append(len(body))
        body += strip + bytes(len(strip) % 2)
    fields = dict(directory)
    if strips:
        fields[STRIP_OFFSETS] = longs(order, *offsets)
        fields[STRIP_SIZES] = longs(order, *(len(strip) for strip in strips))
    struct.pack_into(order + "I", body, 4, _append(body, order, fields))
    return bytes(body)


def _read_directory(data: bytes, order: str, offset: int, *, big: bool) -> tuple[dict[int, Field], dict[int, int], int]:
    head, entry, inline = ("Q", "HHQ", 8) if big else ("H", "HHI", 4)
    (count,) = struct.unpack_from(order + head, data, offset)
    offset += struct.calcsize(order + head)
    fields, places = dict[int, Field](), dict[int, int]()
    for _ in range(count):
        tag, kind, values = struct.unpack_from(order + entry, data, offset)
        place = offset + struct.calcsize(order + entry)
        offset = place + inline
        size = _SIZES.get(kind, 0) * values
        pointer = struct.unpack_from(order + ("Q" if big else "I"), data, place)[0]
        start = place if size <= inline else pointer
        if size and start + size <= len(data):
            inner = _read_directory(data, order, pointer, big=big)[0] if tag in DIRECTORIES else None
            fields[tag], places[tag] = Field(kind, values, data[start : start + size], inner), start
    following = struct.unpack_from(order + ("Q" if big else "I"), data, offset)[0] if offset < len(data) - 3 else 0
    return fields, places, following


def _append(body: bytearray, order: str, directory: Directory) -> int:
    """Write a directory and what it points to behind `body`; return its offset."""
    entries: list[bytes] = []
    for tag in sorted(directory):
        field = directory[tag]
        if field.directory is not None:
            field = longs(order, _append(body, order, field.directory))
        elif field.kind in _BIG_INTEGERS:
            continue  # BigTIFF's own, which hold places in the old file
        value = field.raw
        if len(value) > 4:
            value = struct.pack(order + "I", len(body))
            body += field.raw + bytes(len(field.raw) % 2)
        entries.append(struct.pack(order + "HHI", tag, field.kind, field.count) + value.ljust(4, b"\0"))
    offset = len(body)
    body += struct.pack(order + "H", len(entries)) + b"".join(entries) + bytes(4)
    return offset
