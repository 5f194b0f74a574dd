"""What a picture file says about itself: EXIF, XMP, colour profile, density, texts."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mien.media.orientation import Orientation

_EXIF_PREFIX = b"Exif\0\0"
_ORIENTATION = 0x0112
_XMP_THUMBNAIL = re.compile(rb"(?<=<xmpGImg:image>)[^<]*")
_PHOTOSHOP_THUMBNAILS = (1033, 1036)
_THUMBNAIL_OFFSET, _THUMBNAIL_SIZE = 0x0201, 0x0202


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What every format can say, each in its own way. Bytes are kept as they were read."""

    icc: bytes | None = None
    exif: bytes | None = None
    """A TIFF block without the `Exif` prefix. Its thumbnail is taken out: it would show the face that was there."""
    xmp: bytes | None = None
    dpi: tuple[float, float] | None = None
    """Pixels per inch, horizontal and vertical."""
    texts: tuple[tuple[str, str], ...] = ()
    """Keyword and text."""

    @property
    def orientation(self) -> Orientation:
        """How the stored pixels are turned to be seen upright."""
        return to_orientation(orientation_of(self.exif) if self.exif else 1)

    @classmethod
    def of(cls, info: Mapping[Any, Any], texts: Mapping[str, str] | None = None) -> Metadata:
        """From the `info` that Pillow read."""
        exif, dpi = info.get("exif"), info.get("dpi")
        return cls(
            icc=info.get("icc_profile") or None,
            exif=without_thumbnail(exif.removeprefix(_EXIF_PREFIX)) if exif else None,
            xmp=without_xmp_thumbnails(_bytes(info["xmp"])) if info.get("xmp") else None,
            dpi=(float(dpi[0]), float(dpi[1])) if dpi else None,
            texts=tuple((name, str(text)) for name, text in (texts or {}).items() if text),
        )

    def options(self) -> dict[str, Any]:
        """As options of Pillow's `save`, without the texts."""
        given = {
            "icc_profile": self.icc,
            "exif": _EXIF_PREFIX + self.exif if self.exif else None,
            "xmp": self.xmp,
            "dpi": self.dpi,
        }
        return {name: value for name, value in given.items() if value}


def _bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else value


def to_orientation(value: int) -> Orientation:
    """What EXIF orientation 1..8 means (EXIF 2.3, tag 274)."""
    return Orientation(transpose=value >= 5, mirror_x=value in (2, 3, 6, 7), mirror_y=value in (3, 4, 7, 8))


def orientation_of(exif: bytes) -> int:
    """EXIF orientation 1..8 of a TIFF block; 1 where it has none or a senseless one."""
    entry = _entries(exif, _directory(exif)).get(_ORIENTATION)
    value = struct.unpack_from(_order(exif) + "H", exif, entry + 8)[0] if entry else 1
    return value if 1 <= value <= 8 else 1


def without_thumbnail(exif: bytes) -> bytes:
    """The same TIFF block with the second directory cut off and its picture blanked; all other bytes stay."""
    first = _directory(exif)
    if first is None or first + 2 > len(exif):
        return exif
    (count,) = struct.unpack_from(_order(exif) + "H", exif, first)
    link = first + 2 + 12 * count
    if link + 4 > len(exif):
        return exif
    block = bytearray(exif)
    (second,) = struct.unpack_from(_order(exif) + "I", exif, link)
    entries = _entries(exif, second or None)
    if _THUMBNAIL_OFFSET in entries and _THUMBNAIL_SIZE in entries:
        start, size = (
            struct.unpack_from(_order(exif) + "I", exif, entries[tag] + 8)[0]
            for tag in (_THUMBNAIL_OFFSET, _THUMBNAIL_SIZE)
        )
        end = min(start + size, len(block))
        block[start:end] = bytes(max(end - start, 0))
    struct.pack_into(_order(exif) + "I", block, link, 0)
    return bytes(block)


def without_xmp_thumbnails(xmp: bytes) -> bytes:
    """The same XMP with the pictures of its thumbnails blanked; the length stays."""
    return _XMP_THUMBNAIL.sub(lambda match: b" " * len(match[0]), xmp)


def without_photoshop_thumbnail(blocks: bytes) -> bytes:
    """Photoshop's image resources with the thumbnails (1033, 1036) blanked; all other bytes stay."""
    result, offset = bytearray(blocks), 0
    while blocks[offset : offset + 4] == b"8BIM" and offset + 12 <= len(blocks):
        (number,) = struct.unpack_from(">H", blocks, offset + 4)
        at = offset + 6 + (blocks[offset + 6] + 2) // 2 * 2  # a name of even length, its own length included
        if at + 4 > len(blocks):
            break
        (size,) = struct.unpack_from(">I", blocks, at)
        end = min(at + 4 + size, len(blocks))
        if number in _PHOTOSHOP_THUMBNAILS:
            result[at + 4 : end] = bytes(end - at - 4)
        offset = at + 4 + size + size % 2
    return bytes(result)


def _order(exif: bytes) -> str:
    return ">" if exif[:2] == b"MM" else "<"


def _directory(exif: bytes) -> int | None:
    """Offset of the first directory, or None if this is no TIFF block."""
    if exif[:4] not in (b"II*\0", b"MM\0*") or len(exif) < 8:
        return None
    return struct.unpack_from(_order(exif) + "I", exif, 4)[0]


def _entries(exif: bytes, directory: int | None) -> dict[int, int]:
    """Tag -> offset of its 12-byte entry, for the entries that are wholly there."""
    if directory is None or directory + 2 > len(exif):
        return {}
    (count,) = struct.unpack_from(_order(exif) + "H", exif, directory)
    offsets = range(directory + 2, min(directory + 2 + 12 * count, len(exif) - 11), 12)
    return {struct.unpack_from(_order(exif) + "H", exif, offset)[0]: offset for offset in offsets}
