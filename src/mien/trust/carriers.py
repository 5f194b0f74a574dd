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


def carrier_of_format(name: str) -> Carrier:
    """The kind of a file by what its content is, as `mien.media.probe` names it: of a video, names of its container."""
    found = (_BY_FORMAT[part] for part in name.upper().split(",") if part in _BY_FORMAT)
    return next(found, _OTHER)
