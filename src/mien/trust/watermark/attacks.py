"""What becomes of pictures and clips once they are out: coded again, scaled, cropped, filmed off a screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import cv2
import numpy as np

from mien.media.recoding import Pixels, through_jpeg, through_video

Clip = Sequence[Pixels]


def halved(picture: Pixels) -> Pixels:
    """At half the size, as editors make it."""
    height, width = picture.shape[:2]
    return np.asarray(cv2.resize(picture, (width // 2, height // 2), interpolation=cv2.INTER_AREA), np.uint8)


def cropped(picture: Pixels, share: float = 0.05) -> Pixels:
    """Without `share` of the width and height, of which more is taken on the left and above."""
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
        "JPEG 75": lambda picture: through_jpeg(picture, 75),
        "half size": halved,
        "crop 5 %": cropped,
        "filmed": lambda picture: through_jpeg(filmed(picture), 85),
    }
)

CLIP_ATTACKS: Mapping[str, Callable[[Clip], list[Pixels]]] = MappingProxyType(
    {
        "H.264 crf 23": lambda frames: through_video(frames, "libx264", 23),
        "H.264 crf 28": lambda frames: through_video(frames, "libx264", 28),
        "HEVC crf 23": lambda frames: through_video(frames, "libx265", 23),
        "HEVC crf 28": lambda frames: through_video(frames, "libx265", 28),
        "half size": lambda frames: through_video([halved(one) for one in frames], "libx264", 23),
        "crop 5 %": lambda frames: through_video([cropped(one) for one in frames], "libx264", 23),
        "filmed": lambda frames: through_video([filmed(one, at) for at, one in enumerate(frames)], "libx264", 23),
    }
)
