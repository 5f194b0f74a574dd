"""Encoding independent segments of a video, and joining them to a file with everything else the target holds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, cast

import av
import numpy as np
from av.container import OutputContainer
from av.error import FFmpegError
from av.video.frame import PictureType

from mien.errors import UnreadableError, UnsupportedMediaError
from mien.media.demux import open_video
from mien.media.encoding import Encoding, open_encoder
from mien.media.heap import trim_heap
from mien.media.inscription import NOTHING, Inscription
from mien.media.packets import LoggedPacket, PacketLog, PacketLogWriter, unwritable
from mien.media.streams import Clip, Copies, copy_description, muxer_options
from mien.media.timing import decoding_times
from mien.media.video import VideoFrame, VideoSource


class SegmentWriter:
    """Encodes the frames of one segment. Left without an error, its packets appear as `path`, else nothing does.

    Raises:
        UnwritableError: the file cannot be written.
        UnsupportedMediaError: the encoder fails.
    """

    def __init__(self, path: str | Path, source: VideoSource, encoding: Encoding) -> None:
        self._encoding = encoding
        self._origin = int(source.index.times[source.first_rank])
        self._per_tick = encoding.tick / encoding.time_base
        self._waiting: dict[int, int] = {}
        self._count = 0
        try:
            self._encoder = open_encoder(encoding)
        except FFmpegError as error:
            raise self._failure(error) from error
        self._log = PacketLogWriter(Path(path), encoding, self._encoder.extradata or b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._encode(None)
                self._log.publish()
        finally:
            self._log.discard()
            del self._encoder
            trim_heap()

    def write(self, frame: VideoFrame) -> None:
        """Encode the next frame, in order of presentation."""
        picture = frame.picture
        if picture.format.name != self._encoding.pixel_format:
            picture = picture.reformat(format=self._encoding.pixel_format, **self._conversion(frame))
        tick = self._count if self._encoding.counted else int((frame.pts - self._origin) / self._per_tick)
        self._count += 1
        self._waiting[tick] = frame.pts
        picture.pts, picture.time_base = tick, self._encoding.tick
        # The decoder's own choice of picture types would be taken as an order.
        picture.pict_type = PictureType.NONE
        self._encode(picture)

    def _conversion(self, frame: VideoFrame) -> dict[str, int]:
        if frame.layout.family == "rgb":
            return {"dst_colorspace": self._encoding.tags.matrix, "dst_color_range": self._encoding.tags.range}
        return {}

    def _encode(self, picture: av.VideoFrame | None) -> None:
        try:
            packets = self._encoder.encode(picture)
        except FFmpegError as error:
            raise self._failure(error) from error
        for packet in packets:
            if packet.pts is None:
                raise UnsupportedMediaError(f"{self._encoding.encoder} loses time stamps: choose another codec")
            self._log.append(LoggedPacket(self._waiting.pop(packet.pts), packet.is_keyframe, bytes(packet)))

    def _failure(self, error: FFmpegError) -> UnsupportedMediaError:
        return UnsupportedMediaError(f"the encoder {self._encoding.encoder} failed: {error.strerror}")


def usable(path: str | Path, encoding: Encoding) -> bool:
    """True if `path` is a finished segment made with `encoding`."""
    try:
        with PacketLog(Path(path)) as log:
            return log.encoding == encoding
    except UnreadableError:
        return False


def join(
    source: VideoSource,
    segments: Sequence[Path],
    output: str | Path,
    *,
    audio: Literal["keep", "none"] = "keep",
    inscription: Inscription = NOTHING,
) -> list[str]:
    """Write `output` from finished segments in order, with the source's other streams, chapters and metadata.

    Those are copied without re-encoding wherever the container takes them; the returned warnings say where it does
    not. Time stamps are the source's; with a trimmed source they start at 0.

    Raises:
        UnreadableError: a segment is missing or damaged.
        UnwritableError: the output cannot be written; segments are left as they are.
    """
    output = Path(output)
    part = output.with_name(f".{output.name}.part")
    with ExitStack() as stack:
        logs = [stack.enter_context(PacketLog(path)) for path in segments]
        if not logs:
            raise UnreadableError(f"no segments to join to {output}: nothing was encoded")
        try:
            stack.callback(part.unlink, missing_ok=True)
            warnings = _mux(source, logs, part, inscription.tags, keep_audio=audio == "keep")
            if inscription.finish is not None:
                inscription.finish(part)
            with part.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(part, output)
        except (OSError, FFmpegError) as error:
            raise unwritable(output, error) from error
    return warnings


def _mux(
    source: VideoSource, logs: Sequence[PacketLog], path: Path, tags: Mapping[str, str], *, keep_audio: bool
) -> list[str]:
    encoding = logs[0].encoding
    if any(log.encoding != encoding or log.extradata != logs[0].extradata for log in logs):
        raise UnreadableError("the segments were encoded with different settings: make them again")
    clip = Clip.of(source)
    options = muxer_options(encoding, source, tags)
    with (
        open_video(source.path) as container,
        av.open(str(path.absolute()), "w", format=encoding.container, container_options=options) as output,
    ):
        copies = Copies(container, source, output, encoding, clip, keep_audio=keep_audio)
        copy_description(container, output, clip)
        output.metadata.update(tags)
        output.start_encoding()
        if (copies.video.codec_context.extradata or b"") != logs[0].extradata:
            raise UnreadableError("the segments were encoded by another version of the encoder: make them again")
        _interleave(output, _video_packets(logs, copies.video, clip), copies)
    return copies.warnings


def _video_packets(
    logs: Sequence[PacketLog], stream: av.VideoStream, clip: Clip
) -> Iterator[av.Packet[av.VideoStream]]:
    times = np.array([time for log in logs for time in log.times()], np.int64)
    ordered = np.append(np.sort(times), times.max() + clip.last_duration)
    decoding = iter(decoding_times(times))
    for log in logs:
        for logged in log.packets():
            packet = cast("av.Packet[av.VideoStream]", av.Packet(logged.data))
            packet.stream = stream
            packet.time_base = clip.time_base
            packet.pts = logged.pts - clip.shift_ticks
            packet.dts = int(next(decoding)) - clip.shift_ticks
            packet.duration = int(ordered[np.searchsorted(ordered, logged.pts) + 1]) - logged.pts
            packet.is_keyframe = logged.keyframe
            yield packet


def _interleave(output: OutputContainer, video: Iterator[av.Packet[av.VideoStream]], copies: Copies) -> None:
    """Mux both kinds of packets in order of decoding time, holding no more than one of the video."""
    waiting = next(video, None)
    for packet in copies.packets():
        until = Fraction(packet.dts or 0) * packet.time_base
        while waiting is not None and (waiting.dts or 0) * waiting.time_base <= until:
            output.mux(waiting)
            waiting = next(video, None)
        output.mux(packet)
    while waiting is not None:
        output.mux(waiting)
        waiting = next(video, None)
