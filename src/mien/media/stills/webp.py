"""WebP, still. A lossless file stays lossless; a lossy one is written at a visually lossless quality."""

from __future__ import annotations

from mien.media.containers import riff
from mien.media.metadata import Metadata
from mien.media.stills.still import VISUALLY_LOSSLESS, Still, image_of, mode_of, open_image, pixels_of, save


def read(data: bytes) -> Still:
    """Decode."""
    image = open_image(data, "WEBP")
    return Still(
        format="WEBP",
        pixels=pixels_of(image),
        model="rgb",
        maximum=255,
        metadata=Metadata.of(image.info),
        options={"lossless": any(name == b"VP8L" for name, _ in riff.read_chunks(data))},
    )


def write(still: Still) -> bytes:
    """Encode. Colours under full transparency are kept."""
    options = {"lossless": False, **still.options, **still.metadata.options()}
    options["quality"] = 75 if options["lossless"] else VISUALLY_LOSSLESS  # lossless: effort
    return save(image_of(still.pixels, mode_of(still)), "WEBP", {**options, "exact": True, "method": 4})
