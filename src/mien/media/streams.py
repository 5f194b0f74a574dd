"""Copying everything but the main video: audio, subtitles, data, attachments, cover art, chapters and metadata."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import av
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Discard, Disposition, Stream

from mien.media.demux import main_stream, open_video
from mien.media.encoding import Encoding, add_video_stream
from mien.media.timing import Continuity
from mien.media.video import VideoSource

if TYPE_CHECKING:
    from av.container.core import Chapter

_CONTAINER_FACTS = {"major_brand", "minor_version", "compatible_brands", "encoder", "duration"}
"""Metadata that describes the file it was read from."""

_ITUNES_TAGS = {
    *("title", "artist", "album_artist", "album", "composer", "date", "comment", "genre", "copyright", "grouping"),
    *("lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords", "track", "disc", "compilation"),
    *("media_type", "hd_video", "gapless_playback", "creation_time", "season_number", "episode_sort", "performer"),
}
"""Metadata that MP4 holds in its ordinary place; anything else needs `use_metadata_tags`."""

_STATISTICS = {"DURATION", "BPS", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES", "ENCODER", "encoder"}
"""Tags of a stream that are not true any more once it is encoded anew."""


_LAYOUTS = {1: "mono", 2: "stereo"}
_OPUS_RATE = 48000
_BITS_PER_CHANNEL = 96_000
"""Bits per second that audio which has to be encoded anew gets: transparent for AAC and Opus."""


@dataclass(frozen=True, slots=True)
class Clip:
    """Which part of the source is kept, on the source's clock."""

    time_base: Fraction
    start: Fraction | None
    """Seconds of the first frame, or None where the beginning is kept whole."""
    end: Fraction | None
    """Seconds at which the last frame ends, or None."""
    shift_ticks: int
    """Taken from every time stamp of the video."""
    last_duration: int
    """Ticks the last frame is shown."""

    @classmethod
    def of(cls, source: VideoSource) -> Self:
        """The part that `source` keeps."""
        index, base = source.index, source.time_base
        last = source.end_rank - 1
        shift = int(index.times[source.first_rank]) if source.first_rank > 0 else 0
        return cls(
            time_base=base,
            start=shift * base if source.first_rank > 0 else None,
            end=(int(index.times[last]) + index.duration(last)) * base if source.end_rank < len(index.times) else None,
            shift_ticks=shift,
            last_duration=index.duration(last),
        )


def muxer_options(encoding: Encoding, source: VideoSource, tags: Mapping[str, str]) -> dict[str, str]:
    """Options of the container format; `tags` are metadata beside the source's."""
    if encoding.container in ("matroska", "webm"):
        # Sound that starts a moment before 0 (its decoder's run-up) would move everything else.
        return {"avoid_negative_ts": "disabled"}
    if encoding.container not in ("mp4", "mov"):
        return {}
    flags = "+faststart"
    with open_video(source.path) as container:
        keys = {*_metadata(container.metadata), *tags}
    if keys - _ITUNES_TAGS:
        flags += "+use_metadata_tags"
    options = {"movflags": flags}
    if encoding.time_base.numerator == 1:
        options["video_track_timescale"] = str(encoding.time_base.denominator)
    return options


def copy_description(container: InputContainer, output: OutputContainer, clip: Clip) -> None:
    """Copy metadata and chapters of the file."""
    output.metadata.update(_metadata(container.metadata))
    chapters = [kept for chapter in container.chapters() if (kept := clip_chapter(chapter, clip))]
    if chapters:
        output.set_chapters(chapters)


def clip_chapter(chapter: Chapter, clip: Clip) -> Chapter | None:
    """The part of a chapter that is kept, on the clip's own clock; None if nothing is left."""
    base = chapter["time_base"] or Fraction(1, av.time_base)
    shift = round((clip.start or 0) / base)
    start = max(chapter["start"] - shift, 0 if clip.start is not None else chapter["start"])
    end = chapter["end"] - shift
    if clip.end is not None:
        end = min(end, round(clip.end / base) - shift)
    if end <= start:
        return None
    return {**chapter, "start": start, "end": end}


def _metadata(metadata: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in metadata.items() if key.lower() not in _CONTAINER_FACTS}


@dataclass(slots=True)
class _Transcoder:
    """An audio stream that the container cannot hold as it is."""

    stream: AudioStream

    def packets(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        try:
            frames = packet.decode()
        except FFmpegError:
            return  # A player drops it as well.
        for frame in frames:
            yield from self.stream.encode(frame)

    def rest(self) -> Iterator[Packet[Any]]:
        yield from self.stream.encode(None)


class Copies:
    """The streams of an output: the video, and those copied from the source. Made before the header is written."""

    def __init__(
        self,
        container: InputContainer,
        source: VideoSource,
        output: OutputContainer,
        encoding: Encoding,
        clip: Clip,
        *,
        keep_audio: bool,
    ) -> None:
        self.warnings: list[str] = []
        self._container = container
        self._clip = clip
        self._targets: dict[int, Stream | _Transcoder] = {}
        self._last_dts: dict[int, int] = {}
        self._continuity: dict[int, Continuity] = {}
        main = main_stream(container, source.path)
        for stream in container.streams:
            if stream.index == main.index:
                self.video = add_video_stream(output, encoding)
                _describe(stream, self.video, encoded=True)
                stream.discard = Discard.all
            elif stream.type == "audio" and not keep_audio:
                stream.discard = Discard.all
            elif target := self._add(stream, output, encoding.container):
                self._targets[stream.index] = target

    def packets(self) -> Iterator[Packet[Any]]:
        """Packets of the copied streams that lie in the clip, on its clock, in the order of the source."""
        streams = [stream for stream in self._container.streams if stream.index in self._targets]
        demuxed = self._container.demux(streams) if streams else iter(())
        try:
            for packet in demuxed:
                if packet.size:
                    yield from self._translate(packet)
        except FFmpegError as error:
            self.warnings.append(f"audio and subtitles end early: the target cannot be read further ({error.strerror})")
        for target in self._targets.values():
            if isinstance(target, _Transcoder):
                yield from target.rest()

    def _translate(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        target = self._targets[packet.stream.index]
        continuity = self._continuity.setdefault(packet.stream.index, Continuity(packet.time_base))
        offset = continuity.offset(packet.dts, packet.duration or 0)
        packet.dts = None if packet.dts is None else packet.dts + offset
        packet.pts = None if packet.pts is None else packet.pts + offset
        if not self._place(packet):
            return
        if isinstance(target, _Transcoder):
            yield from target.packets(packet)
        else:
            self._let_rise(packet)
            packet.stream = target
            yield packet

    def _let_rise(self, packet: Packet[Any]) -> None:
        """Decoding times that stand still or fall, as damaged files have them, would be refused by the muxer."""
        index, dts = packet.stream.index, packet.dts or 0
        last = self._last_dts.get(index)
        if last is not None and dts <= last:
            dts = last + 1
            packet.dts, packet.pts = dts, max(packet.pts or 0, dts)
        self._last_dts[index] = dts

    def _place(self, packet: Packet[Any]) -> bool:
        """Move a packet to the clip's clock; False if it lies outside."""
        if packet.pts is None:
            packet.pts = packet.dts
        if packet.dts is None:
            packet.dts = packet.pts
        clip, base = self._clip, packet.time_base
        if packet.pts is None or packet.dts is None or (clip.start is None and clip.end is None):
            return True
        if clip.end is not None and packet.pts * base >= clip.end:
            return False
        if clip.start is not None:
            shift = round(clip.start / base)
            late = max(shift - packet.pts, 0)
            duration = packet.duration or 0
            if late and (late >= duration or packet.stream.type == "audio"):
                return packet.stream.type == "video" and bool(packet.stream.disposition & Disposition.attached_pic)
            # A subtitle that is already on the screen goes on from the first frame.
            packet.pts += late - shift
            packet.dts += late - shift
            packet.duration = duration - late
        return True

    def _add(self, stream: Stream, output: OutputContainer, format_name: str) -> Stream | _Transcoder | None:
        name = f"{stream.type} stream {stream.index}"
        if _made_by_muxer(stream, self._container):
            return None
        reason = _refusal(stream, format_name)
        if reason is None:
            copy = _copy_stream(stream, output)
            _describe(stream, copy, encoded=False)
            return copy
        codec = getattr(stream.codec_context, "name", None) or getattr(stream, "name", None) or "unknown"
        if isinstance(stream, AudioStream):
            made = _new_audio(stream, output)
            self.warnings.append(f"{name} ({codec}) is encoded anew as {made.codec_context.name}: {reason}")
            return _Transcoder(made)
        self.warnings.append(f"{name} ({codec}) is left out: {reason}")
        return None


def _made_by_muxer(stream: Stream, container: InputContainer) -> bool:
    """True for tracks of a MOV that its muxer makes itself, of the chapters and of the time code in the metadata."""
    if stream.type != "data" or "mov" not in container.format.name.split(","):
        return False
    return "timecode" in stream.metadata or bool(container.chapters())


def _new_audio(stream: AudioStream, output: OutputContainer) -> AudioStream:
    if output.format.name == "webm":
        made = output.add_stream("libopus", _OPUS_RATE)
    else:
        made = output.add_stream("aac", stream.rate)
    made.layout = _LAYOUTS.get(stream.channels, stream.layout.name)
    made.bit_rate = _BITS_PER_CHANNEL * stream.channels
    _describe(stream, made, encoded=True)
    return made


def _copy_stream(stream: Stream, output: OutputContainer) -> Stream:
    copy = output.add_stream_from_template(stream, opaque=True)
    copy.disposition = stream.disposition
    return copy


def _refusal(stream: Stream, format_name: str) -> str | None:
    """Why a container cannot hold a stream, found by writing a header in memory."""
    try:
        trial = av.open(io.BytesIO(), "w", format=format_name)
        _copy_stream(stream, trial).metadata.update(stream.metadata)
        trial.start_encoding()
    except (ValueError, FFmpegError):
        # PyAV says both that a codec does not belong into a format and that a header was refused by a ValueError.
        return f"{format_name} cannot hold it"
    return None


def _describe(stream: Stream, copy: Stream, *, encoded: bool) -> None:
    metadata = {key: value for key, value in stream.metadata.items() if not key.startswith("_STATISTICS")}
    if encoded:
        metadata = {key: value for key, value in metadata.items() if key.split("-")[0] not in _STATISTICS}
    copy.metadata.update(metadata)
    copy.disposition = stream.disposition
