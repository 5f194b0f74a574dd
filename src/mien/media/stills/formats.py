"""Which still formats there are, how to tell them apart, and what each of them can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from mien.errors import UnsupportedMediaError
from mien.media.profiles import ColourModel
from mien.media.stills import avif, bmp, heic, jpeg, png, tiff, webp
from mien.media.stills.damage import is_jpeg_damaged
from mien.media.stills.still import Still


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One still format and what it can hold."""

    read: Callable[[bytes], Still]
    is_damaged: Callable[[bytes], bool] = lambda _: False
    """Whether part of a file that `read` takes is not what it was, as far as the format tells."""
    write: Callable[[Still], bytes]
    suffixes: tuple[str, ...]
    models: tuple[ColourModel, ...]
    alpha: bool = True
    palette: bool = False
    metadata: bool = True
    with_xmp: Callable[[Still, bytes], Still] = Still.with_xmp
    """The picture with another XMP packet, where there is metadata at all."""
    maximum: int = 255
    """Largest code value."""
    max_side: int | None = None
    """Most columns or rows; None = as many as anyone has."""


HEAD_SIZE = 4096
"""Bytes from the start of a file that tell its format."""

FORMATS = MappingProxyType(
    {
        "JPEG": Format(
            read=jpeg.read,
            is_damaged=is_jpeg_damaged,
            write=jpeg.write,
            with_xmp=jpeg.with_xmp,
            suffixes=(".jpg", ".jpeg", ".jpe", ".jfif"),
            models=("grey", "rgb", "cmyk"),
            alpha=False,
            max_side=65500,
        ),
        "PNG": Format(
            read=png.read,
            write=png.write,
            with_xmp=png.with_xmp,
            suffixes=(".png",),
            models=("grey", "rgb"),
            palette=True,
            maximum=65535,
        ),
        "WEBP": Format(
            read=webp.read,
            write=webp.write,
            suffixes=(".webp",),
            models=("rgb",),
            max_side=16383,
        ),
        "TIFF": Format(
            read=tiff.read,
            is_damaged=tiff.is_damaged,
            write=tiff.write,
            with_xmp=tiff.with_xmp,
            suffixes=(".tif", ".tiff"),
            models=("grey", "rgb", "cmyk"),
            palette=True,
            maximum=65535,
        ),
        "AVIF": Format(
            read=avif.read,
            write=avif.write,
            suffixes=(".avif",),
            models=("rgb",),
            maximum=1023,
            max_side=65535,
        ),
        "HEIC": Format(
            read=heic.read,
            write=heic.write,
            suffixes=(".heic", ".heif"),
            models=("grey", "rgb"),
            maximum=1023,
            max_side=65535,
        ),
        "BMP": Format(
            read=bmp.read,
            write=bmp.write,
            suffixes=(".bmp", ".dib"),
            models=("grey", "rgb"),
            alpha=False,
            palette=True,
            metadata=False,
            max_side=32767,
        ),
    }
)


def format_of_suffix(suffix: str) -> str:
    """Format that a file name's ending asks for.

    Raises:
        UnsupportedMediaError: none has it.
    """
    for name, entry in FORMATS.items():
        if suffix.lower() in entry.suffixes:
            return name
    endings = ", ".join(entry.suffixes[0] for entry in FORMATS.values())
    raise UnsupportedMediaError(f"a picture cannot be written as '{suffix or 'a file without ending'}': use {endings}")


def is_gif(head: bytes) -> bool:
    """Whether a file that starts with `head` is a GIF, which counts as an animation."""
    return head.startswith((b"GIF87a", b"GIF89a"))


def format_of_content(data: bytes) -> str | None:
    """Format of a file by its first bytes; None if it is no still picture that can be edited."""
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    if data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "TIFF"
    if data.startswith(b"BM"):
        return "BMP"
    return _format_of_brands(data) if data[4:8] == b"ftyp" else None


def _format_of_brands(data: bytes) -> str | None:
    """AVIF and HEIC by the brands in the file type box (ISO/IEC 14496-12, 4.3)."""
    size = int.from_bytes(data[:4], "big")
    brands = {data[offset : offset + 4] for offset in (8, *range(16, min(size, 256), 4))}
    if brands & {b"avif", b"avis"}:
        return "AVIF"
    return "HEIC" if brands & {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"} else None
