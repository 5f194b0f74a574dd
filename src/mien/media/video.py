"""Reading a video: what it is, and its frames with exact time stamps, in one pass or from any frame on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import av
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.sidedata.sidedata import SideData
from av.sidedata.sidedata import Type as SideDataType
from av.stream import Disposition, Stream
from av.video.frame import VideoFrame as Picture
from av.video.stream import VideoStream
from numpy.typing import NDArray

from mien.errors import UnreadableError, UsageError
from mien.media.colour import Colour, ColourTags
from mien.media.orientation import Orientation
from mien.media.planes import PixelLayout, PlaneFrame, nearest_editable
from mien.media.timing import Keyframe, PacketIndex, Segment, common_time_base, rank_at, read_index, split
from mien.recipe import Position

_NOT_VIDEO = {"tty", "image2", "lrc", "srt", "webvtt", "ass"}
"""Demuxers that take text or single pictures for video."""


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


class VideoFrame(PlaneFrame):
    """A frame of a video."""

    __slots__ = ("duration", "pts")

    def __init__(
        self,
        picture: Picture,
        *,
        index: int,
        time_s: float,
        colour: Colour,
        orientation: Orientation,
        pts: int,
        duration: int,
    ) -> None:
        super().__init__(picture, index=index, time_s=time_s, colour=colour, orientation=orientation)
        self.pts = pts
        """Presentation time in the stream's time base."""
        self.duration = duration
        """Ticks until the next frame."""


class VideoSource:
    """A video file. A context manager; every `frames()` opens the file anew, so iterators are independent.

    `index` of a frame counts from the first frame kept by `start`. Frames that cannot be decoded are left out: the
    indexes then have gaps, and `warnings` says so.

    Raises:
        UnreadableError: the file is missing, no video, or nothing in it can be decoded.
        UsageError: `start` and `end` leave nothing.
    """

    def __init__(self, path: str | Path, *, start: Position | None = None, end: Position | None = None) -> None:
        self.path = Path(path)
        self._notes: dict[str, str] = {}
        self._failed: set[int] = set()
        self._damaged: set[int] = set()
        self._missing: set[int] = set()
        with self.open() as container:
            stream = self.stream_of(container)
            origin = Fraction(container.start_time or 0, av.time_base)
            picture = self._first_picture(container, stream)
        with self.open() as container:
            stream = self.stream_of(container)
            self.index: PacketIndex = read_index(container, stream)
            if not len(self.index.times):
                raise UnreadableError(f"{self.path} holds no frame that is shown: the file is damaged or empty")
            self.time_base = cast(Fraction, stream.time_base)
            self.origin = min(origin, int(self.index.times[0]) * self.time_base)
            """Start of the target in seconds of its own clock: what a player calls 0."""
            self._note_early_end(stream)
            self.first_rank, self.end_rank = self._range(start, end)
            self.info = self._describe(container, stream, picture)
        layout = cast(PixelLayout, PixelLayout.named(self.info.editing_format))
        full = layout.full or self.info.pixel_format.startswith("yuvj")
        rgb = layout.family == "rgb"
        self._colour = Colour.resolve(self.info.tags, self.info.stored_height, rgb=rgb, full=full)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    @property
    def warnings(self) -> list[str]:
        """What is odd about the file, as far as it has been read."""
        notes = list(self._notes.values())
        if self._failed or self._damaged or self._missing:
            notes.append(
                f"{self.path.name} is damaged: {len(self._failed)} packets could not be decoded,"
                f" {len(self._missing)} frames are left out and {len(self._damaged)} are shown damaged,"
                " as a player would do"
            )
        return notes

    @property
    def trimmed(self) -> bool:
        """True where `start` or `end` leave something out."""
        return self.first_rank > 0 or self.end_rank < len(self.index.times)

    def open(self) -> InputContainer:
        """Open the file for reading.

        Raises:
            UnreadableError: it is missing, not a video, or damaged beyond reading.
        """
        if not self.path.is_file():
            what = "is a directory" if self.path.is_dir() else "does not exist"
            raise UnreadableError(f"{self.path} {what}: name a video file")
        try:
            container = av.open(str(self.path), "r", metadata_errors="replace")
        except FFmpegError as error:
            raise UnreadableError(
                f"{self.path} cannot be read as a video ({error.strerror}): it is damaged, cut off or no video file"
            ) from error
        if container.format.name in _NOT_VIDEO:
            container.close()
            raise UnreadableError(f"{self.path} is no video file (it looks like {container.format.long_name})")
        return container

    def stream_of(self, container: InputContainer) -> VideoStream:
        """The main video stream: the first that is no attached picture."""
        for stream in container.streams.video:
            if not stream.disposition & (Disposition.attached_pic | Disposition.timed_thumbnails):
                if stream.codec_context is None:  # pyright: ignore[reportUnnecessaryComparison]
                    raise UnreadableError(f"{self.path} is coded in a way that this installation cannot decode")
                return stream
        raise UnreadableError(f"{self.path} has no video stream: name a file with moving pictures")

    def frames(self, first: int = 0, end: int | None = None) -> Iterator[VideoFrame]:
        """Frames `first` to `end` (half-open, counted from `start`) in order of presentation.

        The same pictures come out for a frame whatever `first` is. Frames may be edited in place.
        """
        stop = self.end_rank if end is None else min(self.first_rank + end, self.end_rank)
        begin = self.first_rank + first
        expected = begin
        for rank, picture in self._pictures(begin):
            if rank >= stop:
                break
            if rank < begin:
                continue
            if picture.is_corrupt:
                self._damaged.add(rank)
            self._missing.update(range(expected, rank))
            expected = rank + 1
            yield self._frame(picture, rank)
        else:
            self._missing.update(range(expected, stop))

    def keyframes(self) -> tuple[int, ...]:
        """Indexes of the frames at which decoding can start."""
        return tuple(
            keyframe.rank - self.first_rank
            for keyframe in self.index.keyframes
            if self.first_rank <= keyframe.rank < self.end_rank
        )

    def segments(self, seconds: float) -> tuple[Segment, ...]:
        """Independent parts of about `seconds`, cut at keyframes where possible; the same for every call."""
        times = self.index.times[self.first_rank : self.end_rank] * float(self.time_base)
        return tuple(split(times, self.keyframes(), seconds))

    def _frame(self, picture: Picture, rank: int) -> VideoFrame:
        pts = int(self.index.times[rank])
        return VideoFrame(
            self._uniform(picture, rank),
            index=rank - self.first_rank,
            time_s=float(pts * self.time_base - self.origin),
            colour=self._colour,
            orientation=self._orientation,
            pts=pts,
            duration=self.index.duration(rank),
        )

    def _uniform(self, picture: Picture, rank: int) -> Picture:
        """The picture in the size and format that all frames have."""
        info = self.info
        if (picture.width, picture.height) != (info.stored_width, info.stored_height):
            self._notes.setdefault(
                "size",
                f"from frame {rank - self.first_rank} on the picture is {picture.width}x{picture.height} instead of"
                f" {info.stored_width}x{info.stored_height}: it is scaled to the first frame's size",
            )
        elif picture.format.name == info.editing_format:
            return picture
        converted = picture.reformat(info.stored_width, info.stored_height, info.editing_format)
        converted.colorspace, converted.color_range = picture.colorspace, picture.color_range
        return converted

    def _pictures(self, rank: int) -> Iterator[tuple[int, Picture]]:
        """Decoded pictures with their numbers, from a keyframe at or before `rank` on."""
        with ExitStack() as stack:
            container = stack.enter_context(self.open())
            stream = self.stream_of(container)
            keyframe = self.index.keyframe_before(rank)
            packets = _packets(container, stream)
            number, sought = -1, None
            if keyframe and keyframe.rank > 0:
                sought = _packets_from(container, stream, keyframe)
                if sought:
                    packets, number = sought, keyframe.rank - 1
                else:
                    container = stack.enter_context(self.open())
                    stream = self.stream_of(container)
                    packets = _packets(container, stream)
            stream.thread_type = "AUTO"
            for packet in packets:
                for picture in self._decode(packet):
                    if sought and keyframe and picture.pts is not None and picture.pts < keyframe.pts:
                        continue  # Predicted from what lies before the keyframe.
                    number = self.index.rank_of(picture.pts, number)
                    if number < len(self.index.times):
                        yield number, picture

    def _decode(self, packet: av.Packet[VideoStream]) -> list[Picture]:
        try:
            return packet.decode()
        except FFmpegError:
            self._failed.add(packet.pts or packet.dts or 0)
            return []

    def _first_picture(self, container: InputContainer, stream: VideoStream) -> Picture:
        try:
            for packet in _packets(container, stream):
                if pictures := self._decode(packet):
                    return pictures[0]
        finally:
            self._failed.clear()
        raise UnreadableError(f"no frame of {self.path} can be decoded: the file is damaged or empty")

    def _range(self, start: Position | None, end: Position | None) -> tuple[int, int]:
        times = self.index.times
        first = rank_at(start, times, self.origin, self.time_base) if start else 0
        last = rank_at(end, times, self.origin, self.time_base) if end else len(times)
        if first >= last:
            length = float((int(times[-1]) + self.index.last_duration) * self.time_base - self.origin)
            raise UsageError(
                f"nothing of {self.path} lies between start and end: it has {len(times)} frames in {length:.3f} s"
            )
        return first, last

    def _note_early_end(self, stream: VideoStream) -> None:
        promised = stream.frames
        if self.index.presentation and self.index.packets < promised:
            self._notes["end"] = (
                f"{self.path.name} ends early: it promises {promised} frames and holds {self.index.packets};"
                " what is there is used"
            )
        elif not self.index.complete:
            self._notes["end"] = f"{self.path.name} cannot be read to its end; what is there is used"
        elif (length := _promised_seconds(stream)) is not None:
            end = (int(self.index.times[-1]) + self.index.last_duration) * self.time_base
            if length - float(end) > 0.5:
                self._notes["end"] = (
                    f"{self.path.name} ends early: it promises {length:.1f} s of video and holds {float(end):.1f} s;"
                    " what is there is used"
                )

    def _describe(self, container: InputContainer, stream: VideoStream, picture: Picture) -> VideoInfo:
        editing_format, lossless = nearest_editable(picture.format.name)
        if not lossless:
            self._notes["format"] = (
                f"frames are stored as {picture.format.name}, which cannot be edited in place: they are converted to"
                f" {editing_format}"
            )
        matrix = _display_matrix(picture)
        orientation = Orientation.from_matrix(matrix) if matrix else Orientation()
        if orientation is None:
            self._notes["rotation"] = "the rotation tag is no multiple of 90 degrees: faces are sought as stored"
        self._orientation = orientation or Orientation()
        interlaced = picture.interlaced_frame
        if interlaced:
            self._notes["interlaced"] = "the video is interlaced: both fields of a frame are edited together"
        times = self.index.times[self.first_rank : self.end_rank]
        end = int(times[-1]) + self.index.duration(self.end_rank - 1)
        duration = (end - int(times[0])) * self.time_base
        width, height = self._orientation.size(picture.width, picture.height)
        tags = ColourTags(picture.color_range, picture.colorspace, picture.color_primaries, picture.color_trc)
        return VideoInfo(
            width=width,
            height=height,
            stored_width=picture.width,
            stored_height=picture.height,
            frame_count=len(times),
            duration_s=float(duration),
            frame_rate=_frame_rate(stream, times, self.time_base),
            time_base=self.time_base,
            tick=common_time_base(times, self.time_base),
            profile=stream.codec_context.profile,
            codec=stream.codec_context.codec.canonical_name,
            container=container.format.name,
            pixel_format=picture.format.name,
            editing_format=editing_format,
            rotation=self._orientation.rotation,
            display_matrix=matrix,
            tags=tags,
            hdr=tags.hdr,
            hdr_metadata=_hdr_metadata(picture),
            interlaced=interlaced,
            field_order=stream.codec_context.field_order,
            sample_aspect_ratio=Fraction(stream.sample_aspect_ratio or 0),
            streams=tuple(_summary(other) for other in container.streams if other.index != stream.index),
        )


def _packets(container: InputContainer, stream: VideoStream) -> Iterator[av.Packet[VideoStream]]:
    try:
        yield from container.demux(stream)
    except FFmpegError:
        # An unreadable rest is where the file ends; the decoder still holds frames.
        yield cast("av.Packet[VideoStream]", _flush_packet(stream))


def _flush_packet(stream: VideoStream) -> av.Packet[Stream]:
    packet: av.Packet[Stream] = av.Packet()
    packet.stream = stream
    packet.time_base = cast(Fraction, stream.time_base)
    return packet


def _packets_from(
    container: InputContainer, stream: VideoStream, keyframe: Keyframe
) -> Iterator[av.Packet[VideoStream]] | None:
    """Packets from `keyframe` on, or None if the container cannot seek there."""
    try:
        container.seek(min(keyframe.dts, keyframe.pts), stream=stream)
    except FFmpegError:
        return None
    packets = _packets(container, stream)
    for packet in packets:
        if packet.is_keyframe and packet.pts == keyframe.pts:
            return _chain(packet, packets)
        if packet.dts is None or packet.dts > keyframe.dts:
            return None
    return None


def _chain(first: av.Packet[VideoStream], rest: Iterator[av.Packet[VideoStream]]) -> Iterator[av.Packet[VideoStream]]:
    yield first
    yield from rest


def _frame_rate(stream: VideoStream, times: NDArray[np.int64], time_base: Fraction) -> Fraction:
    steps = np.diff(times)
    if len(steps) and steps[0] > 0 and (steps == steps[0]).all():
        return 1 / (int(steps[0]) * time_base)
    return stream.average_rate or stream.guessed_rate or Fraction(25)


def _promised_seconds(stream: VideoStream) -> float | None:
    """Length of the stream as its Matroska tag says."""
    text = stream.metadata.get("DURATION")
    if not text:
        return None
    try:
        hours, minutes, seconds = text.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    except ValueError:
        return None


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
