"""JPEG. Coded again as a whole, with the same quantisation tables, sampling and scan order."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from PIL import JpegImagePlugin

from mien.errors import UnsupportedMediaError
from mien.media.containers.jpeg import has_credentials, read_carried, segments_with_xmp, splice
from mien.media.metadata import Metadata
from mien.media.profiles import ColourModel
from mien.media.stills.still import (
    CREDENTIALS_DROPPED,
    VISUALLY_LOSSLESS,
    Still,
    image_of,
    mode_of,
    open_image,
    pixels_of,
    save,
)

_MODELS: dict[str, ColourModel] = {"L": "grey", "RGB": "rgb", "CMYK": "cmyk"}


def read(data: bytes) -> Still:
    """Decode. Inks of Adobe's inverted CMYK come the right way round."""
    image = cast(JpegImagePlugin.JpegImageFile, open_image(data, "JPEG"))
    if image.mode not in _MODELS:
        raise UnsupportedMediaError(f"has the colour mode {image.mode}: convert it to RGB first")
    sampling = JpegImagePlugin.get_sampling(image)
    options = {
        "qtables": image.quantization,
        "subsampling": sampling if sampling >= 0 else 0,
        "progressive": bool(image.info.get("progressive")),
        "optimize": True,
    }
    # Without a colour transformation: RGB stored as such.
    if image.mode == "RGB" and image.info.get("adobe_transform") == 0:
        options["keep_rgb"] = True
    notes = [CREDENTIALS_DROPPED] if has_credentials(data) else []
    if image.info.get("mp") or b"MPF\0" in data[:65536]:
        notes.append("the file holds further pictures (preview, depth or gain map): only the main one is kept")
    return Still(
        format="JPEG",
        pixels=pixels_of(image),
        model=_MODELS[image.mode],
        maximum=255,
        metadata=Metadata.of(image.info, {"Comment": _text(image.info.get("comment"))}),
        options=options,
        carried=read_carried(data),
        warnings=tuple(notes),
    )


def write(still: Still) -> bytes:
    """Encode."""
    image = image_of(still.pixels, mode_of(still))
    if still.carried:
        return splice(save(image, "JPEG", still.options), still.carried)
    options = {"quality": VISUALLY_LOSSLESS, "subsampling": 0, **still.options, **still.metadata.options()}
    return save(image, "JPEG", options)


def with_xmp(still: Still, packet: bytes) -> Still:
    """The picture with another XMP packet.

    Raises:
        UnsupportedMediaError: the packet is longer than JPEG allows.
    """
    try:
        carried = segments_with_xmp(still.carried, packet)
    except ValueError as error:
        raise UnsupportedMediaError(f"cannot hold more metadata ({error}): write PNG or TIFF instead") from error
    return replace(still.with_xmp(packet), carried=carried if still.carried else ())


def _text(comment: bytes | None) -> str:
    return (comment or b"").decode("utf-8", "replace")
