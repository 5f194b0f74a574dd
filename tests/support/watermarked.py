"""Pictures and frames with a watermark, for tests and benchmarks of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import av
import numpy as np
from numpy.typing import NDArray

from mien.media.arrays import ArrayFrame
from mien.media.colour import Colour, ColourTags
from mien.media.orientation import Orientation
from mien.media.planes import PixelLayout, PlaneFrame
from mien.media.profiles import PlainRgb
from mien.trust.watermark import Detection, Watermark, mark_of_job
from mien.trust.watermark.ids import to_bits
from support.animate import Clip, Scene
from support.people import still
from support.scenes import crossing, talking_head

Pixels = NDArray[np.uint8]

MARK = mark_of_job("the job of the tests")


def bits_right(detection: Detection) -> float:
    """Share of `MARK`'s bits that were read as they are."""
    return float(np.mean(np.array(detection.bits) == np.array(to_bits(MARK))))


def marked(picture: Pixels, watermark: Watermark | None = None) -> Pixels:
    """A copy of an RGB picture with `MARK`."""
    copy = picture.copy()
    assert (watermark or Watermark(MARK)).embed(ArrayFrame(copy, PlainRgb(255)))
    return copy


def plane_frame(
    picture: Pixels, pixel_format: str = "yuv420p", *, orientation: Orientation | None = None, index: int = 0
) -> PlaneFrame:
    """An RGB picture as a decoder would give it."""
    frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format=pixel_format)
    layout = PixelLayout.named(pixel_format)
    assert layout is not None
    colour = Colour.resolve(ColourTags(), frame.height, rgb=layout.family == "rgb", full=layout.full)
    return PlaneFrame(frame, index=index, time_s=0, colour=colour, orientation=orientation or Orientation())


def marked_clip(frames: Iterable[Pixels]) -> list[Pixels]:
    """Frames marked as those of a video are: in the planes of yuv420p."""
    watermark, result = Watermark(MARK), list[Pixels]()
    for picture in frames:
        frame = plane_frame(picture)
        assert watermark.embed(frame)
        result.append(frame.picture.to_ndarray(format="rgb24"))
    return result


SCENES = ("a talking head", "two people crossing", "a noisy head")


@cache
def clip(scene: str, seconds: float = 2.0) -> tuple[Pixels, ...]:
    """The frames of one of `SCENES`, 640x360 at 25 a second."""
    scenes: dict[str, Scene] = {
        "a talking head": talking_head(still("astronaut"), seconds=seconds, noise=0),
        "two people crossing": crossing(still("grace_hopper"), still("luispedro"), seconds=seconds),
        "a noisy head": talking_head(still("grace_hopper"), seconds=seconds, noise=3),
    }
    return tuple(Clip(scenes[scene]).pictures())
