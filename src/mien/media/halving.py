"""A copy of a picture or video with half its width and height, for a quick look at what would become of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PIL import Image

from mien.media.encoding import choose_encoding
from mien.media.files import publish
from mien.media.pictures import read_rgb
from mien.media.segments import SegmentWriter, join
from mien.media.video import VideoFrame, VideoSource

_QUALITY = 14
"""Of x264: what is lost at it is less than what half the size loses."""


def halve_picture(path: Path, output: Path) -> None:
    """Write a PNG in sRGB, upright.

    Raises:
        UnreadableError, UnwritableError: as reading and writing do.
    """
    picture = Image.fromarray(read_rgb(path))
    with publish(output) as part:
        picture.resize((max(picture.width // 2, 1), max(picture.height // 2, 1)), Image.Resampling.BOX).save(
            part, "PNG"
        )


def halve_video(path: Path, output: Path) -> None:
    """Write a Matroska file with the same frames, times and sound.

    Raises:
        UnreadableError, UnsupportedMediaError, UnwritableError: as reading and writing do.
    """
    with VideoSource(path) as source:
        names = ("width", "height", "stored_width", "stored_height")
        info = replace(source.info, **{name: _half(getattr(source.info, name)) for name in names})
        encoding = choose_encoding(info, output.suffix, codec="libx264", crf=_QUALITY, preset="ultrafast")
        packets = output.with_suffix(".packets")
        with SegmentWriter(packets, source, encoding) as writer:
            for frame in source.frames():
                writer.write(_halved(frame, info.stored_width, info.stored_height))
        join(source, [packets], output)
        packets.unlink()


def _half(pixels: int) -> int:
    """Even, as most pixel formats want it."""
    return max(pixels // 4 * 2, 2)


def _halved(frame: VideoFrame, width: int, height: int) -> VideoFrame:
    return VideoFrame(
        frame.picture.reformat(width, height, interpolation="AREA"),
        index=frame.index,
        time_s=frame.time_s,
        colour=frame.colour,
        orientation=frame.orientation,
        pts=frame.pts,
        duration=frame.duration,
    )
