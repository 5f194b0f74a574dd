"""From one still format to another: what the new one can hold is kept, what it cannot is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mien.errors import UnsupportedMediaError
from mien.media.arrays import Pixels
from mien.media.metadata import Metadata
from mien.media.palette import colours_of
from mien.media.profiles import space_or_srgb
from mien.media.stills.formats import FORMATS, Format
from mien.media.stills.still import CHANNELS, Still

_BYTE, _WORD = 255, 65535


def convert(still: Still, name: str) -> tuple[Still, list[str]]:
    """The picture as the format `name` can hold it, and what was lost on the way.

    Raises:
        UnsupportedMediaError: the picture is larger than the format allows.
    """
    target = FORMATS[name]
    height, width = still.pixels.shape[:2]
    if target.max_side and max(height, width) > target.max_side:
        raise UnsupportedMediaError(
            f"{name} pictures have at most {target.max_side} pixels a side, not {width}x{height}: choose PNG or TIFF"
        )
    lost: list[str] = []
    if still.palette is not None and (not target.palette or still.has_alpha):
        still = _without_palette(still)
    if still.model not in target.models:
        if still.model == "cmyk":
            lost.append("no inks: converted to sRGB")
        still = _with_rgb(still)
    if still.maximum != (maximum := _maximum_in(target, still.maximum)):
        if maximum < still.maximum:
            lost.append(f"at most {maximum.bit_length()} bits: {still.depth} bits were rounded")
        still = _with_maximum(still, maximum)
    if still.has_alpha and not target.alpha:
        lost.append("no transparency: put on white")
        still = _on_white(still)
    metadata = still.metadata
    if not target.metadata and (metadata.icc or metadata.exif or metadata.xmp):
        lost.append("no metadata: profile, EXIF and XMP are left out")
        still = _without_metadata(still)
    if still.model == "grey" and still.has_alpha and still.maximum > _BYTE and name != "PNG":
        still = _with_rgb(still)  # no other format's readers know 16-bit grey with alpha
    return replace(still, format=name, options={}, carried=()), [f"{name} pictures have {loss}" for loss in lost]


def _without_palette(still: Still) -> Still:
    assert still.palette is not None
    pixels = colours_of(still.pixels.astype(np.uint8, copy=False), still.palette)
    if still.has_alpha:
        alpha = np.zeros(256, np.uint8)
        alpha[: len(still.palette)] = still.palette[:, 3]
        pixels = np.concatenate([pixels, alpha[still.pixels]], axis=2)
    return replace(still, pixels=pixels, palette=None)


def _with_rgb(still: Still) -> Still:
    """RGB in the same depth; sRGB if there was a profile (which is for another model) or ink."""
    if still.model == "grey" and not still.metadata.icc:
        colour: Pixels = np.repeat(still.pixels[..., :1], 3, axis=2)
        return replace(still, model="rgb", pixels=np.concatenate([colour, still.pixels[..., 1:]], axis=2))
    return _to_srgb(still)


def _to_srgb(still: Still) -> Still:
    channels, metadata = CHANNELS[still.model], still.metadata
    space, _ = space_or_srgb(still.model, still.maximum, metadata.icc)
    colour = np.rint(space.to_working(still.pixels[..., :channels]) * still.maximum).astype(still.pixels.dtype)
    pixels = np.concatenate([colour, still.pixels[..., channels:]], axis=2)
    return replace(still, pixels=pixels, model="rgb", metadata=replace(metadata, icc=None))


def _maximum_in(target: Format, maximum: int) -> int:
    """Formats of 16 bits have nothing between 8 and 16."""
    if target.maximum == _WORD and maximum > _BYTE:
        return _WORD
    return min(maximum, target.maximum)


def _with_maximum(still: Still, maximum: int) -> Still:
    dtype = np.uint8 if maximum == _BYTE else np.uint16
    pixels = np.rint(still.pixels * (maximum / still.maximum)).astype(dtype)
    return replace(still, pixels=pixels, maximum=maximum)


def _on_white(still: Still) -> Still:
    channels = CHANNELS[still.model]
    weight = still.pixels[..., channels:] / np.float32(still.maximum)
    colour = still.pixels[..., :channels] * weight + still.maximum * (1 - weight)
    return replace(still, pixels=np.rint(colour).astype(still.pixels.dtype))


def _without_metadata(still: Still) -> Still:
    """Upright and in sRGB, as nothing says otherwise any more."""
    metadata = still.metadata
    if metadata.icc and still.palette is None:
        still = _to_srgb(still)
    pixels = np.ascontiguousarray(metadata.orientation.upright(still.pixels))
    return replace(still, pixels=pixels, metadata=Metadata(dpi=metadata.dpi))
