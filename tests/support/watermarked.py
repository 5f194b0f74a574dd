"""Pictures and frames with a watermark, for tests and benchmarks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
from support.drawn import drawing, noise, stripes, texture
from support.people import NAMES, picture, still
from support.scenes import changing_light, covered, crossing, talking_head

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
    for one in frames:
        frame = plane_frame(one)
        assert watermark.embed(frame)
        result.append(frame.picture.to_ndarray(format="rgb24"))
    return result


SCENES = ("a talking head", "two people crossing", "a noisy head", "a hand before a face", "changing light")


@cache
def clip(scene: str, seconds: float = 2.0) -> tuple[Pixels, ...]:
    """The frames of one of `SCENES`, 640x360 at 25 a second."""
    scenes: dict[str, Callable[[], Scene]] = {
        "a talking head": lambda: talking_head(still("astronaut"), seconds=seconds, noise=0),
        "two people crossing": lambda: crossing(still("grace_hopper"), still("luispedro"), seconds=seconds),
        "a noisy head": lambda: talking_head(still("grace_hopper"), seconds=seconds, noise=3),
        "a hand before a face": lambda: covered(still("luispedro"), seconds=seconds),
        "changing light": lambda: changing_light(still("grace_hopper"), seconds=seconds),
    }
    return tuple(Clip(scenes[scene]()).pictures())


def unmarked(rounds: int) -> Iterator[Pixels]:
    """Five pictures a round: noise, cloth, a drawing, stripes, a part of a photograph; all sizes and grains."""
    random = np.random.default_rng(5)
    for number in range(rounds):
        size = tuple(random.integers(150, 700, 2).tolist())
        yield noise(*size, spread=float(random.uniform(2, 60)), seed=number)
        yield texture(*size, grain=float(random.uniform(0.8, 12)), seed=number)
        yield drawing(*size, seed=number)
        yield stripes(*size, period=float(random.uniform(2.5, 40)))
        whole = picture(NAMES[number % 3])
        height, width = (int(side * random.uniform(0.4, 1)) for side in whole.shape[:2])
        top, left = int(random.integers(whole.shape[0] - height + 1)), int(random.integers(whole.shape[1] - width + 1))
        yield whole[top : top + height, left : left + width]
