"""What kind of file an upload is, by its first bytes alone: nothing is decoded here.

Only containers that stand for themselves are taken. A playlist or a list of parts would make a decoder open files
and addresses that its author names.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD_BYTES = 4096
"""As many bytes as are looked at."""


@dataclass(frozen=True, slots=True)
class FileType:
    """A kind of file that is taken."""

    media_type: str
    suffix: str


JPEG = FileType("image/jpeg", ".jpg")
PNG = FileType("image/png", ".png")
GIF = FileType("image/gif", ".gif")
WEBP = FileType("image/webp", ".webp")
TIFF = FileType("image/tiff", ".tif")
BMP = FileType("image/bmp", ".bmp")
AVIF = FileType("image/avif", ".avif")
HEIC = FileType("image/heic", ".heic")
MP4 = FileType("video/mp4", ".mp4")
MOV = FileType("video/quicktime", ".mov")
MATROSKA = FileType("video/x-matroska", ".mkv")
WEBM = FileType("video/webm", ".webm")
AVI = FileType("video/x-msvideo", ".avi")
FLV = FileType("video/x-flv", ".flv")
OGG = FileType("video/ogg", ".ogv")
ASF = FileType("video/x-ms-wmv", ".wmv")
MPEG_TS = FileType("video/mp2t", ".ts")
MPEG_PS = FileType("video/mpeg", ".mpg")

_STARTS = (
    (b"\xff\xd8\xff", JPEG),
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"II*\0", TIFF),
    (b"MM\0*", TIFF),
    (b"II+\0", TIFF),
    (b"MM\0+", TIFF),
    (b"BM", BMP),
    (b"FLV\x01", FLV),
    (b"OggS", OGG),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", ASF),
    (b"\x00\x00\x01\xba", MPEG_PS),
)
_TS_PACKET = 188
_AVIF_BRANDS = frozenset({b"avif", b"avis"})
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"})
_MOVIE_BOXES = frozenset({b"moov", b"mdat", b"wide", b"free", b"skip"})
"""First boxes of QuickTime files that are older than the file type box."""


def file_type(head: bytes) -> FileType | None:
    """The kind of a file that starts with `head`; None if it is none that is taken."""
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    if head[:4] == b"RIFF":
        return {b"WEBP": WEBP, b"AVI ": AVI}.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _of_brands(head)
    if head[4:8] in _MOVIE_BOXES:
        return MOV
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return WEBM if b"webm" in head[:64] else MATROSKA
    if len(head) > 2 * _TS_PACKET and head[0] == head[_TS_PACKET] == head[2 * _TS_PACKET] == 0x47:
        return MPEG_TS
    return None


def _of_brands(head: bytes) -> FileType:
    """By the file type box (ISO/IEC 14496-12, 4.3)."""
    size = int.from_bytes(head[:4], "big")
    brands = {head[at : at + 4] for at in (8, *range(16, min(size, 256), 4))}
    if brands & _AVIF_BRANDS:
        return AVIF
    if brands & _HEIC_BRANDS:
        return HEIC
    return MOV if head[8:12] == b"qt  " else MP4
