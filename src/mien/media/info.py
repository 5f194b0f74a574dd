"""What a video is: sizes, times, colour, and the streams beside it."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.sidedata.sidedata import SideData
from av.sidedata.sidedata import Type as SideDataType
from av.stream import Stream
from av.video.frame import VideoFrame as Picture
from av.video.stream import VideoStream
from numpy.typing import NDArray

from mien.media.colour import ColourTags
from mien.media.orientation import Orientation
from mien.media.planes import nearest_editable
from mien.media.timing import common_time_base


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """A stream beside the video."""

    index: int
    kind: str
    """`audio`, `subtitle`, `data`, `attachment` or `video`."""
    codec: str
    language: str | None


@dataclass(frozen=True, slots=True)
class HdrMetadata:
    """Static HDR metadata (SMPTE ST 2086 and CTA-861.3)."""

    mastering: tuple[tuple[int, int], ...] | None
    """Ten rationals: x, y of red, green, blue and white, then smallest and largest luminance in cd/m2."""
    light_level: tuple[int, int] | None
    """Largest and frame-average content light level, cd/m2."""


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What a video is. Sizes are upright unless said otherwise."""

    width: int
    height: int
    stored_width: int
    stored_height: int
    frame_count: int
    """Frames between `start` and `end`, counted from packets."""
    duration_s: float
    frame_rate: Fraction
    """Average."""
    time_base: Fraction
    tick: Fraction
    """Coarsest time base in which all frames' times are whole, counted from the first one."""
    steady: bool
    """True for a constant frame rate, rounding to the time base aside."""
    codec: str
    profile: str | None
    container: str
    """FFmpeg's names of the container format, separated by commas."""
    pixel_format: str
    """As decoded."""
    editing_format: str
    """The same, or the nearest one that can be edited in place."""
    rotation: int
    """Counter-clockwise turn in degrees that makes the stored picture upright."""
    display_matrix: tuple[int, ...] | None
    tags: ColourTags
    hdr: bool
    hdr_metadata: HdrMetadata
    interlaced: bool
    field_order: int
    """As FFmpeg numbers it; 0 = not said, 1 = progressive."""
    sample_aspect_ratio: Fraction
    streams: tuple[StreamSummary, ...]
    """All streams but the video."""

    def enlarged(self, times: int) -> VideoInfo:
        """Of the same video, `times` as wide and high."""
        sizes = {name: getattr(self, name) * times for name in ("width", "height", "stored_width", "stored_height")}
        return replace(self, **sizes)

    @property
    def orientation(self) -> Orientation:
        """How stored pictures become upright; as stored for a turn that is no multiple of 90 degrees."""
        return _orientation(self.display_matrix) or Orientation()

    @property
    def oddities(self) -> dict[str, str]:
        """What a user has to know, by kind."""
        notes: dict[str, str] = {}
        if not nearest_editable(self.pixel_format)[1]:
            notes["format"] = (
                f"frames are stored as {self.pixel_format}, which cannot be edited in place: they are converted to"
                f" {self.editing_format}"
            )
        if _orientation(self.display_matrix) is None:
            notes["rotation"] = "the rotation tag is no multiple of 90 degrees: faces are sought as stored"
        if self.interlaced:
            notes["interlaced"] = "the video is interlaced: both fields of a frame are edited together"
        return notes


def describe(
    container: InputContainer, stream: VideoStream, picture: Picture, times: NDArray[np.int64], last_duration: int
) -> VideoInfo:
    """Facts of a video from its container, its main stream, a decoded picture, and the times of the frames kept.

    `times` (ascending) and `last_duration`, how long the last of them is shown, are in the stream's time base.
    """
    time_base = cast(Fraction, stream.time_base)
    matrix = _display_matrix(picture)
    orientation = _orientation(matrix) or Orientation()
    width, height = orientation.size(picture.width, picture.height)
    tags = ColourTags(
        picture.color_range, picture.colorspace, picture.color_primaries, picture.color_trc, _chroma_location(stream)
    )
    return VideoInfo(
        width=width,
        height=height,
        stored_width=picture.width,
        stored_height=picture.height,
        frame_count=len(times),
        duration_s=float((int(times[-1]) + last_duration - int(times[0])) * time_base),
        frame_rate=_frame_rate(stream, times, time_base),
        time_base=time_base,
        tick=common_time_base(times, time_base),
        steady=_is_steady(times),
        codec=stream.codec_context.codec.canonical_name,
        profile=stream.codec_context.profile,
        container=container.format.name,
        pixel_format=picture.format.name,
        editing_format=nearest_editable(picture.format.name)[0],
        rotation=orientation.rotation,
        display_matrix=matrix,
        tags=tags,
        hdr=tags.hdr,
        hdr_metadata=_hdr_metadata(picture),
        interlaced=picture.interlaced_frame,
        field_order=stream.codec_context.field_order,
        sample_aspect_ratio=Fraction(stream.sample_aspect_ratio or 0),
        streams=tuple(_summary(other) for other in container.streams if other.index != stream.index),
    )


_CHROMA_LOCATIONS = {(1, 2): "left", (2, 2): "center", (1, 1): "topleft", (2, 1): "top"}
"""Chroma siting across and down as Matroska numbers it: 1 = on a luma sample, 2 = half-way to the next."""


def _chroma_location(stream: VideoStream) -> str | None:
    """Where chroma samples lie. PyAV does not tell, but its Matroska muxer writes it for any stream."""
    header = io.BytesIO()
    try:
        with av.open(header, "w", format="matroska") as container:
            container.add_stream_from_template(stream, opaque=True)
            container.start_encoding()
    except (ValueError, FFmpegError):
        return None
    sitings = _CHROMA_SITING.search(header.getvalue())
    return _CHROMA_LOCATIONS.get((sitings[1][0], sitings[2][0])) if sitings else None


_CHROMA_SITING = re.compile(rb"\x55\xb7\x81(.)\x55\xb8\x81(.)", re.DOTALL)
"""The elements ChromaSitingHorz and ChromaSitingVert, one byte each."""


def _frame_rate(stream: VideoStream, times: NDArray[np.int64], time_base: Fraction) -> Fraction:
    steps = np.diff(times)
    if len(steps) and steps[0] > 0 and (steps == steps[0]).all():
        return 1 / (int(steps[0]) * time_base)
    return stream.average_rate or stream.guessed_rate or Fraction(25)


def _is_steady(times: NDArray[np.int64]) -> bool:
    ideal = np.linspace(times[0], times[-1], len(times))
    return bool(np.abs(times - ideal).max() <= 1)


def _orientation(matrix: tuple[int, ...] | None) -> Orientation | None:
    return Orientation.from_matrix(matrix) if matrix else Orientation()


def _summary(stream: Stream) -> StreamSummary:
    context = stream.codec_context
    codec = context.codec.canonical_name if context else str(getattr(stream, "name", None) or "unknown")
    return StreamSummary(stream.index, stream.type, codec, stream.language)


def _side_data(picture: Picture, kind: SideDataType, dtype: type[np.generic]) -> list[int] | None:
    for entry in cast("list[SideData]", picture.side_data):
        if entry.type is kind:
            return np.frombuffer(bytes(entry), dtype).tolist()
    return None


def _display_matrix(picture: Picture) -> tuple[int, ...] | None:
    values = _side_data(picture, SideDataType.DISPLAYMATRIX, np.int32)
    return tuple(values) if values else None


def _hdr_metadata(picture: Picture) -> HdrMetadata:
    mastering = _side_data(picture, SideDataType.MASTERING_DISPLAY_METADATA, np.int32)
    light = _side_data(picture, SideDataType.CONTENT_LIGHT_LEVEL, np.uint32)
    rationals = None
    if mastering and mastering[20] and mastering[21]:  # has_primaries, has_luminance
        rationals = tuple((mastering[i], mastering[i + 1]) for i in range(0, 20, 2))
    return HdrMetadata(rationals, (light[0], light[1]) if light else None)
