"""The marker segments of JPEG files, so that what they say is carried byte for byte."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mien.media.metadata import without_photoshop_thumbnail, without_thumbnail, without_xmp_thumbnails

_SCAN, _COMMENT = 0xDA, 0xFE
_JFIF, _EXIF, _BOXES, _ADOBE, _LAST_APPLICATION = 0xE0, 0xE1, 0xEB, 0xEE, 0xEF
_PHOTOSHOP, _PHOTOSHOP_PREFIX = 0xED, b"Photoshop 3.0\0"
_EXIF_PREFIX, _OTHER_PICTURES = b"Exif\0\0", b"MPF\0"
_XMP_PREFIX = b"http://ns.adobe.com/xap/1.0/\0"

MAX_XMP_BYTES = 65533 - len(_XMP_PREFIX)
"""A segment's length has 16 bits and counts itself."""


class Segment(NamedTuple):
    """One marker segment."""

    marker: int
    """Second byte of the marker."""
    data: bytes

    def pack(self) -> bytes:
        """As it is in the file."""
        return struct.pack(">BBH", 0xFF, self.marker, len(self.data) + 2) + self.data


def read_segments(data: bytes) -> Iterator[Segment]:
    """All segments before the first scan."""
    offset = 2
    while offset + 4 <= len(data):
        if data[offset] != 0xFF:
            return
        marker = data[offset + 1]
        if marker == 0xFF:  # a fill byte
            offset += 1
            continue
        if marker == _SCAN:
            return
        (length,) = struct.unpack_from(">H", data, offset + 2)
        yield Segment(marker, data[offset + 4 : offset + 2 + length])
        offset += 2 + length


def read_carried(data: bytes) -> tuple[Segment, ...]:
    """What is carried to a new file: application data and comments.

    Left out are the coder's own (Adobe), further pictures and thumbnails (they show the face that was there), and
    content credentials (their signature does not hold for other pixels).
    """
    return tuple(_without_thumbnail(segment) for segment in read_segments(data) if _is_carried(segment))


def has_credentials(data: bytes) -> bool:
    """Whether the file holds content credentials (C2PA)."""
    return any(_is_credentials(segment) for segment in read_segments(data))


def segments_with_xmp(carried: Sequence[Segment], packet: bytes) -> tuple[Segment, ...]:
    """The segments with `packet` as their only XMP, after JFIF and EXIF as readers expect it.

    Raises:
        ValueError: the packet is longer than a segment.
    """
    if len(packet) > MAX_XMP_BYTES:
        raise ValueError(f"its XMP would take {len(packet)} bytes, and a JPEG holds {MAX_XMP_BYTES}")
    kept = [segment for segment in carried if not segment.data.startswith(_XMP_PREFIX)]
    at = next((number for number, segment in enumerate(kept) if not _comes_first(segment)), len(kept))
    return (*kept[:at], Segment(_EXIF, _XMP_PREFIX + packet), *kept[at:])


def splice(data: bytes, carried: Sequence[Segment]) -> bytes:
    """Put `carried` into a freshly coded file, whose JFIF segment it replaces."""
    at = 2
    for segment in read_segments(data):
        if segment.marker != _JFIF:
            break
        at += len(segment.pack())
    return data[:2] + b"".join(segment.pack() for segment in carried) + data[at:]


def _comes_first(segment: Segment) -> bool:
    return segment.marker == _JFIF or segment.data.startswith(_EXIF_PREFIX)


def _is_credentials(segment: Segment) -> bool:
    return segment.marker == _BOXES and b"c2pa" in segment.data[:200]


def _is_carried(segment: Segment) -> bool:
    if segment.marker == _ADOBE or segment.data.startswith((_OTHER_PICTURES, b"JFXX\0")) or _is_credentials(segment):
        return False
    return segment.marker == _COMMENT or _JFIF <= segment.marker <= _LAST_APPLICATION


def _without_thumbnail(segment: Segment) -> Segment:
    if segment.marker == _JFIF:
        return Segment(_JFIF, segment.data[:12] + b"\0\0")
    if segment.marker == _EXIF and segment.data.startswith(_EXIF_PREFIX):
        return Segment(_EXIF, _EXIF_PREFIX + without_thumbnail(segment.data.removeprefix(_EXIF_PREFIX)))
    if segment.marker == _EXIF:  # XMP has the same marker
        return Segment(_EXIF, without_xmp_thumbnails(segment.data))
    if segment.marker == _PHOTOSHOP and segment.data.startswith(_PHOTOSHOP_PREFIX):
        blocks = segment.data.removeprefix(_PHOTOSHOP_PREFIX)
        return Segment(_PHOTOSHOP, _PHOTOSHOP_PREFIX + without_photoshop_thumbnail(blocks))
    return segment
