"""Opening video files and reading their packets, from the start or from a keyframe."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
from av.container import InputContainer
from av.error import FFmpegError
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from mien.errors import UnreadableError
from mien.media.timing import Keyframe

_NOT_VIDEO = {"tty", "image2", "lrc", "srt", "webvtt", "ass"}
"""Demuxers that take text or single pictures for video."""


def open_video(path: Path) -> InputContainer:
    """Open the file for reading.

    Raises:
        UnreadableError: it is missing, not a video, or damaged beyond reading.
    """
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        raise UnreadableError(f"{path} {what}: name a video file")
    try:
        # Absolute: what comes before a colon in a relative name would be taken for a protocol.
        container = av.open(str(path.absolute()), "r", metadata_errors="replace")
    except FFmpegError as error:
        raise UnreadableError(
            f"{path} cannot be read as a video ({error.strerror}): it is damaged, cut off or no video file"
        ) from error
    if container.format.name in _NOT_VIDEO:
        container.close()
        raise UnreadableError(f"{path} is no video file (it looks like {container.format.long_name})")
    return container


def main_stream(container: InputContainer, path: Path) -> VideoStream:
    """The main video stream: the first that is no attached picture."""
    for stream in container.streams.video:
        if not stream.disposition & (Disposition.attached_pic | Disposition.timed_thumbnails):
            if stream.codec_context is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise UnreadableError(f"{path} is coded in a way that this installation cannot decode")
            return stream
    raise UnreadableError(f"{path} has no video stream: name a file with moving pictures")


def packets_of(container: InputContainer, stream: VideoStream) -> Iterator[av.Packet[VideoStream]]:
    """Packets of a stream to the file's end, or to where it cannot be read any further."""
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


def packets_from(
    container: InputContainer, stream: VideoStream, keyframe: Keyframe
) -> Iterator[av.Packet[VideoStream]] | None:
    """Packets from `keyframe` on, or None if the container cannot seek there."""
    try:
        container.seek(min(keyframe.dts, keyframe.pts), stream=stream)
    except FFmpegError:
        return None
    packets = packets_of(container, stream)
    for packet in packets:
        if packet.is_keyframe and packet.pts == keyframe.pts:
            return _chain(packet, packets)
        if packet.dts is None or packet.dts > keyframe.dts:
            return None
    return None


def _chain(first: av.Packet[VideoStream], rest: Iterator[av.Packet[VideoStream]]) -> Iterator[av.Packet[VideoStream]]:
    yield first
    yield from rest
