"""Which formats there are, how to tell them apart, and what of a picture each of them can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from mien.errors import UnsupportedMediaError
from mien.media.arrays import Pixels
from mien.media.metadata import Metadata
from mien.media.palette import colours_of
from mien.media.profiles import ColourModel
from mien.media.stills import avif, bmp, heic, jpeg, png, tiff, webp
from mien.media.stills.still import CHANNELS, Still


class Format(NamedTuple):
    """One still format and what it can hold."""

    read: Callable[[bytes], Still]
    write: Callable[[Still], bytes]
    suffixes: tuple[str, ...]
    models: tuple[ColourModel, ...]
    alpha: bool
    palette: bool
    maximum: int
    """Largest code value."""
    metadata: bool


FORMATS = MappingProxyType(
    {
        "JPEG": Format(
            jpeg.read, jpeg.write, (".jpg", ".jpeg", ".jpe", ".jfif"), ("grey", "rgb", "cmyk"), False, False, 255, True
        ),
        "PNG": Format(png.read, png.write, (".png",), ("grey", "rgb"), True, True, 65535, True),
        "WEBP": Format(webp.read, webp.write, (".webp",), ("rgb",), True, False, 255, True),
        "TIFF": Format(tiff.read, tiff.write, (".tif", ".tiff"), ("grey", "rgb", "cmyk"), True, True, 65535, True),
        "AVIF": Format(avif.read, avif.write, (".avif",), ("rgb",), True, False, 1023, True),
        "HEIC": Format(heic.read, heic.write, (".heic", ".heif"), ("grey", "rgb"), True, False, 1023, True),
        "BMP": Format(bmp.read, bmp.write, (".bmp", ".dib"), ("grey", "rgb"), False, True, 255, False),
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


HEAD_SIZE = 4096
"""Bytes from the start of a file that tell its format."""


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


def convert(still: Still, name: str, to_srgb: Callable[[Still], Still]) -> tuple[Still, list[str]]:
    """The picture as another format can hold it, and what was lost on the way.

    `to_srgb` turns any colour model and depth into plain 8-bit RGB(A).
    """
    target, notes = FORMATS[name], list[str]()
    label = f"{name} pictures"
    if still.palette is not None and (not target.palette or still.has_alpha):
        still = _without_palette(still)
    if still.model == "grey" and "grey" not in target.models:
        still = to_srgb(still) if still.metadata.icc else replace(still, model="rgb", pixels=_grey_to_rgb(still))
    if still.model == "grey" and still.has_alpha and still.maximum > 255 and name != "PNG":
        still = replace(still, model="rgb", pixels=_grey_to_rgb(still))  # which no other reader knows
    if still.model not in target.models:
        still = to_srgb(still)
        notes.append(f"{label} have no inks: converted to sRGB")
    if still.maximum > target.maximum:
        notes.append(f"{label} have at most {target.maximum.bit_length()} bits: {still.depth} bits were rounded")
        still = _with_maximum(still, target.maximum)
    if still.has_alpha and not target.alpha:
        notes.append(f"{label} have no transparency: put on white")
        still = _on_white(still)
    if not target.metadata and (still.metadata.icc or still.metadata.exif or still.metadata.xmp):
        notes.append(f"{label} have no metadata: profile, EXIF and XMP are left out")
        orientation = still.metadata.orientation
        still = to_srgb(still) if still.metadata.icc and still.palette is None else still
        pixels = np.ascontiguousarray(orientation.upright(still.pixels))
        still = replace(still, pixels=pixels, metadata=Metadata(dpi=still.metadata.dpi))
    return replace(still, format=name, options={}, carried=()), notes


def _without_palette(still: Still) -> Still:
    assert still.palette is not None
    pixels = colours_of(still.pixels.astype(np.uint8, copy=False), still.palette)
    if still.has_alpha:
        alpha = np.zeros(256, np.uint8)
        alpha[: len(still.palette)] = still.palette[:, 3]
        pixels = np.concatenate([pixels, alpha[still.pixels]], axis=2)
    return replace(still, pixels=pixels, palette=None)


def _grey_to_rgb(still: Still) -> Pixels:
    return np.concatenate([np.repeat(still.pixels[..., :1], 3, axis=2), still.pixels[..., 1:]], axis=2)


def _with_maximum(still: Still, maximum: int) -> Still:
    dtype = np.uint8 if maximum == 255 else np.uint16
    pixels = np.rint(still.pixels * (maximum / still.maximum)).astype(dtype)
    return replace(still, pixels=pixels, maximum=maximum)


def _on_white(still: Still) -> Still:
    channels = CHANNELS[still.model]
    weight = still.pixels[..., channels:] / np.float32(still.maximum)
    colour = still.pixels[..., :channels] * weight + still.maximum * (1 - weight)
    return replace(still, pixels=np.rint(colour).astype(still.pixels.dtype))
