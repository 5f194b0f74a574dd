"""BMP. It has no place for orientation, profile or other metadata."""

from __future__ import annotations

import numpy as np
from PIL import Image

from mien.media.metadata import Metadata
from mien.media.stills.still import Still, image_of, mode_of, open_image, pixels_of, save


def read(data: bytes) -> Still:
    """Decode. One-bit pictures and greys with a palette become what they mean."""
    image = open_image(data, "BMP")
    palette = None
    if image.mode == "1":
        palette = np.array([[0, 0, 0], [255, 255, 255]], np.uint8)
    elif image.mode == "P":
        palette = np.array(image.getpalette("RGB"), np.uint8).reshape(-1, 3)
    return Still(
        format="BMP",
        pixels=pixels_of(image),
        model="grey" if image.mode == "L" else "rgb",
        maximum=255,
        palette=palette,
        palette_limit=2 if image.mode == "1" else 256,
        metadata=Metadata.of(image.info),
        options={"bilevel": image.mode == "1"},
    )


def write(still: Still) -> bytes:
    """Encode."""
    if still.options.get("bilevel"):
        image = Image.fromarray(still.pixels[..., 0] != 0)
    else:
        image = image_of(still.pixels, mode_of(still))
    if image.mode == "P" and still.palette is not None:
        image.putpalette(np.ascontiguousarray(still.palette[:, :3]).tobytes())
    return save(image, "BMP", {"dpi": still.metadata.dpi} if still.metadata.dpi else {})
