"""Reading a video: what it is, and its frames with exact time stamps, in one pass or from any frame on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import av
from av.container import InputContainer
from av.error import FFmpegError
from av.video.frame import VideoFrame as Picture
from av.video.stream import VideoStream

from mien.errors import UnreadableError, UsageError
from mien.media.colour import Colour
from mien.media.demux import main_stream, open_video, packets_from, packets_of
from mien.media.info import VideoInfo, describe
from mien.media.orientation import Orientation
from mien.media.planes import PixelLayout, PlaneFrame
from mien.media.timing import PacketIndex, Segment, rank_at, read_index, split
from mien.recipe import Position


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

    def enlarged(self, times: int) -> VideoFrame:
        """The same picture `times` as wide and high, interpolated; it shares nothing with this one."""
        picture = self.picture
        return VideoFrame(
            picture.reformat(picture.width * times, picture.height * times, interpolation="BICUBIC"),
            index=self.index,
            time_s=self.time_s,
            colour=self.colour,
            orientation=self.orientation,
            pts=self.pts,
            duration=self.duration,
        )


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
        with open_video(self.path) as container:
            stream = main_stream(container, self.path)
            origin = Fraction(container.start_time or 0, av.time_base)
            picture = self._first_picture(container, stream)
        with open_video(self.path) as container:
            stream = main_stream(container, self.path)
            self.index: PacketIndex = read_index(container, stream)
            if not len(self.index.times):
                raise UnreadableError(f"{self.path} holds no frame that is shown: the file is damaged or empty")
            self.time_base = cast(Fraction, stream.time_base)
            self.origin = min(origin, int(self.index.times[0]) * self.time_base)
            """Start of the target in seconds of its own clock: what a player calls 0."""
            self._note_early_end(stream)
            self.first_rank, self.end_rank = self._range(start, end)
            kept = self.index.times[self.first_rank : self.end_rank]
            last_duration = self.index.duration(self.end_rank - 1)
            self.info: VideoInfo = describe(container, stream, picture, kept, last_duration)
            self._notes |= self.info.oddities
            if self.index.restarts:
                self._notes["restarts"] = (
                    f"the clock of {self.path.name} starts again {self.index.restarts} times: its parts follow each"
                    " other without a gap"
                )
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

    def frames(self, first: int = 0, end: int | None = None, *, few: bool = False) -> Iterator[VideoFrame]:
        """Frames `first` to `end` (half-open, counted from `start`) in order of presentation.

        The same pictures come out for a frame whatever `first` is. Frames may be edited in place. A `few` are decoded
        one after the other, which needs the memory of several frames less.
        """
        stop = self.end_rank if end is None else min(self.first_rank + end, self.end_rank)
        begin = self.first_rank + first
        expected = begin
        for rank, picture in self._pictures(begin, few):
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
            orientation=self.info.orientation,
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

    def _pictures(self, rank: int, few: bool) -> Iterator[tuple[int, Picture]]:
        """Decoded pictures with their numbers, from a keyframe at or before `rank` on."""
        with ExitStack() as stack:
            container = stack.enter_context(open_video(self.path))
            stream = main_stream(container, self.path)
            keyframe = self.index.keyframe_before(rank)
            packets = packets_of(container, stream)
            number, sought = -1, None
            if keyframe and keyframe.rank > 0:
                sought = packets_from(container, stream, keyframe)
                if sought:
                    packets, number = sought, keyframe.rank - 1
                else:
                    container = stack.enter_context(open_video(self.path))
                    stream = main_stream(container, self.path)
                    packets = packets_of(container, stream)
            stream.thread_type = "SLICE" if few else "AUTO"
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
            for packet in packets_of(container, stream):
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
