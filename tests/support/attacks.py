"""What becomes of pictures and clips once they are out: coded again, scaled, cropped, filmed off a screen."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]


def jpeg(picture: Pixels, quality: int) -> Pixels:
    """Through Pillow's coder and back."""
    data = io.BytesIO()
    Image.fromarray(picture).save(data, "JPEG", quality=quality)
    return np.asarray(Image.open(data).convert("RGB"))


def halved(picture: Pixels) -> Pixels:
    height, width = picture.shape[:2]
    return np.asarray(Image.fromarray(picture).resize((width // 2, height // 2), Image.Resampling.LANCZOS))


def cropped(picture: Pixels, share: float = 0.05) -> Pixels:
    """Without `share` of the width and height, more of it on the left and above than on the right and below."""
    height, width = picture.shape[:2]
    left, top = round(0.6 * share * width), round(0.7 * share * height)
    return picture[top : top + round((1 - share) * height), left : left + round((1 - share) * width)]


def filmed(picture: Pixels, seed: int = 0) -> Pixels:
    """Like a recording of a screen: another size, other brightness and contrast, and noise."""
    height, width = picture.shape[:2]
    shown = cv2.resize(picture, (round(0.87 * width), round(0.87 * height)), interpolation=cv2.INTER_LINEAR)
    bright = 6 + 0.95 * 255 * (shown / 255) ** 1.1
    return np.clip(bright + np.random.default_rng(seed).normal(0, 5, shown.shape), 0, 255).astype(np.uint8)


PICTURE_ATTACKS: Mapping[str, Callable[[Pixels], Pixels]] = MappingProxyType(
    {
        "nothing": lambda picture: picture,
        "JPEG 75": lambda picture: jpeg(picture, 75),
        "half size": halved,
        "crop 5 %": cropped,
        "filmed": lambda picture: jpeg(filmed(picture), 85),
    }
)


def coded(frames: Sequence[Pixels], codec: str, crf: int) -> list[Pixels]:
    """Through an encoder and its decoder."""
    with av.open(io.BytesIO(coded_bytes(frames, codec, crf))) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def coded_bytes(frames: Sequence[Pixels], codec: str, crf: int) -> bytes:
    """A Matroska file of the frames, cut to even sides."""
    data = io.BytesIO()
    with av.open(data, "w", format="matroska") as container:
        fast = {"preset": "veryfast", "x265-params": "log-level=none"} if codec == "libx265" else {}
        stream = container.add_stream(codec, rate=25, options={"crf": str(crf), **fast})
        stream.width, stream.height = (side // 2 * 2 for side in frames[0].shape[1::-1])
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            even = np.ascontiguousarray(frame[: stream.height, : stream.width])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(even, format="rgb24")))
        container.mux(stream.encode())
    return data.getvalue()


CLIP_ATTACKS: Mapping[str, Callable[[Sequence[Pixels]], list[Pixels]]] = MappingProxyType(
    {
        "H.264 crf 23": lambda frames: coded(frames, "libx264", 23),
        "H.264 crf 28": lambda frames: coded(frames, "libx264", 28),
        "HEVC crf 23": lambda frames: coded(frames, "libx265", 23),
        "HEVC crf 28": lambda frames: coded(frames, "libx265", 28),
        "half size": lambda frames: coded([halved(frame) for frame in frames], "libx264", 23),
        "crop 5 %": lambda frames: coded([cropped(frame) for frame in frames], "libx264", 23),
        "filmed": lambda frames: coded([filmed(frame, number) for number, frame in enumerate(frames)], "libx264", 23),
    }
)
