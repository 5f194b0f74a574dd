"""What a coder leaves of pictures: through it and back, in memory."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import cast

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]
"""(height, width, 3) RGB."""

_OPTIONS = {"libx264": {}, "libx265": {"preset": "veryfast", "x265-params": "log-level=none"}}
"""HEVC's default preset takes ten times as long and changes little of what is measured here."""


def through_jpeg(picture: Pixels, quality: int) -> Pixels:
    """A picture as JPEG leaves it; `quality` in Pillow's scale, 0..100."""
    data = io.BytesIO()
    Image.fromarray(picture).save(data, "JPEG", quality=quality)
    return np.asarray(Image.open(data).convert("RGB"))


def through_video(frames: Sequence[Pixels], encoder: str, crf: int) -> list[Pixels]:
    """Frames of one size as an encoder (`libx264`, `libx265`) leaves them, cut to even sides."""
    with av.open(io.BytesIO(video_bytes(frames, encoder, crf)), "r") as container:
        return [cast(Pixels, frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]


def video_bytes(frames: Sequence[Pixels], encoder: str, crf: int) -> bytes:
    """A Matroska file of frames, 25 a second."""
    data = io.BytesIO()
    with av.open(data, "w", format="matroska") as container:
        options = {"crf": str(crf), **_OPTIONS[encoder]}
        stream = cast("av.VideoStream", container.add_stream(encoder, rate=25, options=options))
        stream.height, stream.width = (side // 2 * 2 for side in frames[0].shape[:2])
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            even = np.ascontiguousarray(frame[: stream.height, : stream.width])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(even, format="rgb24")))
        container.mux(stream.encode())
    return data.getvalue()
