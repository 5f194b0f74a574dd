"""AVIF, 8 bits through Pillow, 10 and 12 through OpenCV. Written at a visually lossless quality, sampled as before."""

from __future__ import annotations

import cv2
import numpy as np

from mien.media.arrays import Pixels
from mien.media.metadata import Metadata
from mien.media.stills.still import VISUALLY_LOSSLESS, Still, image_of, mode_of, open_image, pixels_of, save

_SPEED = 8
"""The encoder's own default (6) takes three times as long for 2 % smaller files."""

_HDR_TRANSFERS = (16, 18)
"""PQ and HLG (ITU-T H.273, table 3)."""


def read(data: bytes) -> Still:
    """Decode."""
    image = open_image(data, "AVIF")
    high, twelve, sampling = _coding(data)
    notes: list[str] = []
    if high and _transfer(data) in _HDR_TRANSFERS:
        notes.append("the AVIF's HDR transfer function is not kept: the picture is treated as ordinary")
    if getattr(image, "n_frames", 1) > 1:
        notes.append("the file is a sequence: only its first picture is kept")
    return Still(
        format="AVIF",
        pixels=_read_high(data) if high else pixels_of(image),
        model="rgb",
        maximum=(4095 if twelve else 1023) if high else 255,
        metadata=Metadata.of(image.info),
        options={"subsampling": sampling},
        warnings=tuple(notes),
    )


def write(still: Still) -> bytes:
    """Encode."""
    if still.maximum > 255:
        return _write_high(still)
    effort = {"quality": VISUALLY_LOSSLESS, "speed": _SPEED}
    options = {"subsampling": "4:4:4", **still.options, **still.metadata.options(), **effort}
    return save(image_of(still.pixels, mode_of(still)), "AVIF", options)


def _coding(data: bytes) -> tuple[bool, bool, str]:
    """More than 8 bits, 12 bits, and chroma sampling, from the AV1 configuration box (AV1-ISOBMFF, 2.3.3)."""
    at = data.find(b"av1C")
    flags = data[at + 6] if 0 <= at < len(data) - 6 else 0
    sampling = {0: "4:4:4", 0b1000: "4:2:2", 0b1100: "4:2:0"}.get(flags & 0b1100, "4:2:0")
    return bool(flags & 0x40), bool(flags & 0x20), "4:0:0" if flags & 0x10 else sampling


def _transfer(data: bytes) -> int:
    at = data.find(b"colrnclx")
    return int.from_bytes(data[at + 10 : at + 12], "big") if at >= 0 else 0


def _read_high(data: bytes) -> Pixels:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.ndim != 3:
        raise ValueError("its samples of more than 8 bits cannot be decoded")
    return pixels[..., [2, 1, 0, 3][: pixels.shape[2]]].astype(np.uint16)


def _write_high(still: Still) -> bytes:
    order = [2, 1, 0, 3][: still.pixels.shape[2]]
    metadata = still.metadata
    blocks = {
        cv2.IMAGE_METADATA_EXIF: metadata.exif,
        cv2.IMAGE_METADATA_XMP: metadata.xmp,
        cv2.IMAGE_METADATA_ICCP: metadata.icc,
    }
    given = {kind: np.frombuffer(block, np.uint8) for kind, block in blocks.items() if block}
    options = [cv2.IMWRITE_AVIF_DEPTH, still.depth, cv2.IMWRITE_AVIF_QUALITY, VISUALLY_LOSSLESS]
    options += [cv2.IMWRITE_AVIF_SPEED, _SPEED]
    pixels = np.ascontiguousarray(still.pixels[..., order])
    done, data = cv2.imencodeWithMetadata(".avif", pixels, list(given), list(given.values()), options)
    if not done:
        raise ValueError("the AVIF encoder failed")
    return data.tobytes()
