"""Animated GIF: each picture with a palette of its own, and only what changed since the last."""

from __future__ import annotations

from fractions import Fraction
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.geometry import Rect
from mien.media.animations.encoder import AnimationInfo, Rgba, area_of, differing
from mien.media.containers import gif
from mien.media.metadata import Metadata
from mien.media.palette import quantise

_OPAQUE = 128
"""Alpha from which a pixel is shown: GIF has no more than on and off."""

_CENTISECOND = Fraction(1, 100)


def describe(data: bytes, image: Image.Image) -> AnimationInfo:
    """Read what a file says; `image` shows its first frame."""
    summary = gif.read_summary(data)
    return AnimationInfo(
        format="GIF",
        stored_width=summary.width,
        stored_height=summary.height,
        durations_s=tuple(delay * _CENTISECOND for delay in summary.delays_cs),
        loop=_to_loop(summary.repetitions),
        has_alpha=bool((np.asarray(image.convert("RGBA"))[..., 3] < 255).any()),
        metadata=Metadata(xmp=summary.xmp),
        details=summary,
    )


class _Waiting(NamedTuple):
    rgba: Rgba
    edited: NDArray[np.bool_]
    delay_cs: int


class GifEncoder:
    """Holds back one frame: whether it is cleared away depends on what the next one shows."""

    def __init__(self, file: BinaryIO, info: AnimationInfo) -> None:
        self._file = file
        self._empty = np.zeros((info.height, info.width, 4), np.uint8)
        self._canvas = self._empty
        self._waiting: _Waiting | None = None
        self._time, self._time_cs = Fraction(0), 0
        comments: list[bytes] = info.details.comments if info.format == "GIF" else []
        file.write(gif.pack_header(info.width, info.height, _to_repetitions(info.loop), comments, info.metadata.xmp))

    def write(self, rgba: Rgba, edited: NDArray[np.bool_], duration_s: Fraction) -> None:
        """See `Encoder`. Alpha becomes on or off; times are rounded to 1/100 s without drifting away."""
        rgba = rgba.copy()
        rgba[..., 3] = np.where(rgba[..., 3] >= _OPAQUE, 255, 0)
        self._time += duration_s
        delay_cs = round(self._time / _CENTISECOND) - self._time_cs
        self._time_cs += delay_cs
        if self._waiting:
            vanishing = (self._waiting.rgba[..., 3] > rgba[..., 3]).any()
            self._draw(self._waiting, gif.CLEAR if vanishing else gif.LEAVE)
        self._waiting = _Waiting(rgba, edited, delay_cs)

    def finish(self) -> None:
        """See `Encoder`."""
        if self._waiting:
            self._draw(self._waiting, gif.LEAVE)
        self._file.write(gif.TRAILER)

    def _draw(self, frame: _Waiting, disposal: int) -> None:
        drawn = differing(frame.rgba, self._canvas)
        # What is cleared afterwards has to lie in the rectangle, whoever drew it.
        area = area_of(frame.rgba[..., 3] > 0 if disposal == gif.CLEAR else drawn)
        self._file.write(_picture(frame, drawn, area, disposal))
        self._canvas = self._empty if disposal == gif.CLEAR else frame.rgba


def _to_loop(repetitions: int | None) -> int:
    """GIF counts what follows the first showing, and has no number for a single one."""
    return 1 if repetitions is None else repetitions and repetitions + 1


def _to_repetitions(loop: int) -> int | None:
    return None if loop == 1 else loop and loop - 1


def _picture(frame: _Waiting, drawn: NDArray[np.bool_], area: Rect, disposal: int) -> bytes:
    rgb, shown, edited = frame.rgba[area.slices][..., :3], drawn[area.slices], frame.edited[area.slices]
    has_gaps = not shown.all()
    indices, palette = quantise(rgb, shown & ~edited, shown & edited, limit=255 if has_gaps else 256)
    if has_gaps:
        indices = np.where(shown, indices, np.uint8(len(palette)))
        palette = np.concatenate([palette, np.zeros((1, 3), np.uint8)])
    return gif.pack_picture(
        indices,
        palette,
        x=area.x,
        y=area.y,
        delay_cs=frame.delay_cs,
        disposal=disposal,
        transparent=len(palette) - 1 if has_gaps else None,
    )
