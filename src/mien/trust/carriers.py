"""What files of each kind can carry of the marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

Place = Literal["XMP", "metadata key", "tag"]
"""Where a file has the AI-content object."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """One kind of file."""

    name: str
    form: str
    """Media type."""
    place: Place | None
    """Where the AI-content object goes; None = nowhere."""
    signed: bool
    """Whether content credentials have a place."""
    watermarked: bool = True
    """Whether its colours are fine enough for the watermark."""


_KINDS: Mapping[Carrier, tuple[str, ...]] = {
    Carrier("JPEG", "image/jpeg", "XMP", True): (".jpg", ".jpeg", ".jpe", ".jfif"),
    Carrier("PNG", "image/png", "XMP", True): (".png", ".apng"),
    Carrier("WebP", "image/webp", "XMP", True): (".webp",),
    Carrier("TIFF", "image/tiff", "XMP", True): (".tif", ".tiff"),
    Carrier("AVIF", "image/avif", "XMP", True): (".avif",),
    Carrier("HEIC", "image/heic", "XMP", True): (".heic", ".heif"),
    Carrier("GIF", "image/gif", "XMP", True, watermarked=False): (".gif",),
    Carrier("BMP", "image/bmp", None, False): (".bmp", ".dib"),
    Carrier("MP4", "video/mp4", "metadata key", True): (".mp4", ".m4v"),
    Carrier("MOV", "video/quicktime", "metadata key", True): (".mov",),
    Carrier("Matroska", "video/x-matroska", "tag", False): (".mkv",),
    Carrier("WebM", "video/webm", "tag", False): (".webm",),
    Carrier("AVI", "video/x-msvideo", None, True): (".avi",),
    Carrier("MPEG-TS", "video/mp2t", None, False): (".ts", ".m2ts"),
}

_BY_SUFFIX = MappingProxyType({suffix: kind for kind, suffixes in _KINDS.items() for suffix in suffixes})

_BY_FORMAT = MappingProxyType({kind.name.upper(): kind for kind in _KINDS} | {"MPEGTS": _BY_SUFFIX[".ts"]})

_OTHER = Carrier("file", "application/octet-stream", None, False)


def carrier_of(path: str | Path) -> Carrier:
    """The kind of a file by its name; one that carries nothing if nobody knows it."""
    return _BY_SUFFIX.get(Path(path).suffix.lower(), _OTHER)


def carrier_of_content(path: Path, formats: str) -> Carrier:
    """The kind of a file by what it is, whatever its name says.

    Args:
        path: Of the file. Its ending decides between kinds that share a structure, such as MP4 and MOV.
        formats: What `mien.media.probe` calls it; of a video, several names with commas between.
    """
    kinds = [_BY_FORMAT[name] for name in formats.upper().split(",") if name in _BY_FORMAT]
    named = carrier_of(path)
    return named if named in kinds else next(iter(reversed(kinds)), _OTHER)
