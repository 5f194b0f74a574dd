"""Which codecs, containers and picture formats this installation reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from av.codec import Codec
from av.codec.codec import UnknownCodecError
from av.format import formats_available
from PIL import Image

_ENCODERS = {
    "h264": ("libx264",),
    "hevc": ("libx265",),
    "vp9": ("libvpx-vp9",),
    "av1": ("libsvtav1", "libaom-av1"),
    "prores": ("prores_ks",),
    "mpeg4": ("mpeg4",),
    "ffv1": ("ffv1",),
}
"""Codec (also its decoder's name) -> the encoders that will do, the preferred one first."""

_MUXERS = {"mp4": "mp4", "mov": "mov", "mkv": "matroska", "webm": "webm", "avi": "avi"}
"""File name suffix -> the muxer's name."""

_PICTURES = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF", "AVIF")


@dataclass(frozen=True, slots=True)
class Support:
    """What can be done with one format."""

    name: str
    reads: bool
    writes: bool
    encoder: str | None = None
    """Name of the encoder, for codecs that can be written."""


def codec_support() -> list[Support]:
    """Video codecs."""
    result: list[Support] = []
    for codec, encoders in _ENCODERS.items():
        encoder = next((name for name in encoders if _exists(name, "w")), None)
        result.append(Support(codec, _exists(codec, "r"), encoder is not None, encoder))
    return result


def container_support() -> list[Support]:
    """Containers, by file name suffix."""
    return [
        Support(suffix, muxer in formats_available, muxer in formats_available) for suffix, muxer in _MUXERS.items()
    ]


def picture_support() -> list[Support]:
    """Picture formats."""
    Image.init()
    return [Support(name.lower(), name in Image.OPEN, name in Image.SAVE) for name in _PICTURES]


def _exists(name: str, mode: Literal["r", "w"]) -> bool:
    try:
        Codec(name, mode)
    except UnknownCodecError:
        return False
    return True
