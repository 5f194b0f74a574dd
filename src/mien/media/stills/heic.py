"""HEIC, through the extra `mien[heic]`. Written at a visually lossless quality."""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np

from mien.errors import UnsupportedMediaError
from mien.installing import install_command
from mien.media.metadata import Metadata
from mien.media.stills.still import VISUALLY_LOSSLESS, Still, mode_of


def read(data: bytes) -> Still:
    """Decode the main picture."""
    heif = _library()
    image = heif.open_heif(io.BytesIO(data), convert_hdr_to_8bit=False)
    depth = int(image.info.get("bit_depth", 8))
    metadata = Metadata.of(image.info)
    pixels = np.array(image)
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    if depth > 8:
        pixels = pixels >> (16 - depth)  # the library fills 16 bits
    options = {"chroma": image.info.get("chroma", 420)}
    if "nclx_profile" in image.info:
        options["nclx_profile"] = image.info["nclx_profile"]
    return Still(
        format="HEIC",
        # The library turns pictures upright and leaves the EXIF tag as it was.
        pixels=np.ascontiguousarray(metadata.orientation.stored(pixels)),
        model="rgb" if image.mode.startswith("RGB") else "grey",
        maximum=(1 << depth) - 1,
        metadata=metadata,
        options=options,
        warnings=_warnings(image),
    )


def write(still: Still) -> bytes:
    """Encode; the library turns the EXIF orientation into HEIC's own."""
    buffer = io.BytesIO()
    height, width = still.pixels.shape[:2]
    mode, pixels = mode_of(still), still.pixels
    if still.depth > 8:
        mode, pixels = f"{mode};16", pixels << (16 - still.depth)
    options = {**still.metadata.options(), **still.options}
    _library().encode(mode, (width, height), pixels.tobytes(), buffer, quality=VISUALLY_LOSSLESS, **options)
    return buffer.getvalue()


def _warnings(image: Any) -> tuple[str, ...]:
    if len(image) > 1 or image.info.get("depth_images") or image.info.get("aux"):
        return ("the file holds further pictures (burst, depth or gain map): only the main one is kept",)
    return ()


def _library() -> Any:
    try:
        return importlib.import_module("pillow_heif")
    except ImportError as error:
        brings = install_command("mien[heic]")
        raise UnsupportedMediaError(f"is a HEIC picture, which needs an extra: {brings}") from error
