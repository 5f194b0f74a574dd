"""Which codecs, containers and picture formats this installation reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from av.codec import Codec
from av.codec.codec import UnknownCodecError
from av.format import formats_available
from PIL import Image

from mien.media.encoding import CONTAINERS, ENCODERS
from mien.media.stills.formats import FORMATS

_EXTRAS = {"HEIC": ("pillow_heif", "heic")}
"""Picture format -> module that handles it and the extra of mien that brings it."""


@dataclass(frozen=True, slots=True)
class Support:
    """What can be done with one format."""

    name: str
    reads: bool
    writes: bool
    encoder: str | None = None
    """Name of the encoder, for codecs that can be written."""
    extra: str | None = None
    """The extra of mien that brings it, for what does not come with the package."""


def codec_support() -> list[Support]:
    """Video codecs."""
    result: list[Support] = []
    for codec in dict.fromkeys(encoder.codec for encoder in ENCODERS):
        names = [encoder.name for encoder in ENCODERS if encoder.codec == codec]
        encoder = next((name for name in names if _exists(name, "w")), None)
        result.append(Support(codec, _exists(codec, "r"), encoder is not None, encoder))
    return result


def container_support() -> list[Support]:
    """Containers, by file name suffix."""
    there = {suffix: muxer in formats_available for suffix, muxer in CONTAINERS.items()}
    return [Support(suffix.lstrip("."), can, can) for suffix, can in there.items()]


def picture_support() -> list[Support]:
    """Picture formats."""
    Image.init()
    return [_picture(name) for name in (*FORMATS, "GIF")]


def _picture(name: str) -> Support:
    if name in _EXTRAS:
        module, extra = _EXTRAS[name]
        there = find_spec(module) is not None
        return Support(name.lower(), there, there, extra=extra)
    return Support(name.lower(), name in Image.OPEN, name in Image.SAVE)


def _exists(name: str, mode: Literal["r", "w"]) -> bool:
    try:
        Codec(name, mode)
    except UnknownCodecError:
        return False
    return True
