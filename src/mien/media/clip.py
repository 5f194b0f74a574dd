"""New clips made of RGB pictures, for people to look at: ordinary 8-bit video, with another clip's sound if wanted."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream
from numpy.typing import NDArray

from mien.errors import UnsupportedMediaError

_ENCODERS = {
    ".mp4": ("libx264", {"crf": "18", "preset": "veryfast"}),
    ".mov": ("libx264", {"crf": "18", "preset": "veryfast"}),
    ".mkv": ("libx264", {"crf": "18", "preset": "veryfast"}),
    ".webm": ("libvpx-vp9", {"crf": "28", "deadline": "realtime", "cpu-used": "7", "row-mt": "1"}),
}
"""File name suffix -> encoder and its options."""

CLIP_SUFFIXES = frozenset(_ENCODERS)

TIME_BASE = Fraction(1, 90000)
"""Fine enough for every frame rate in use, variable ones as well."""


class ClipWriter:
    """A clip written picture by picture, in BT.709 and limited range, with any spacing in time. A context manager.

    The file is opened with the first picture; the file system's errors are those of `OSError`, which `publish` names.
    """

    def __init__(self, path: Path, width: int, height: int, *, frame_rate: Fraction, sound: Path | None = None) -> None:
        """Set up the encoder.

        Args:
            path: its suffix chooses the container; whoever calls publishes it by a rename (see `mien.media.files`).
            width: even number of columns.
            height: even number of rows.
            frame_rate: how long the last picture is shown, and a hint for the encoder; times are given with pictures.
            sound: a clip whose first sound track is copied; times of pictures count from its start.

        Raises:
            UnsupportedMediaError: no encoder for the suffix.
        """
        suffix = path.suffix.lower()
        if suffix not in _ENCODERS:
            raise UnsupportedMediaError(
                f"'{path.suffix}' is no name for a clip: use one of {', '.join(sorted(CLIP_SUFFIXES))}"
            )
        encoder, options = _ENCODERS[suffix]
        self._container = av.open(str(path), "w")
        self._video = cast(VideoStream, self._container.add_stream(encoder, rate=frame_rate, options=options))
        self._video.width, self._video.height, self._video.pix_fmt = width, height, "yuv420p"
        self._video.codec_context.time_base = TIME_BASE
        self._video.codec_context.color_range = ColorRange.MPEG
        self._video.codec_context.colorspace = Colorspace.ITU709
        self._sound = _Sound(sound, self._container) if sound else None
        self._picture_s = float(1 / frame_rate)
        self._end_s = 0.0

    @property
    def warnings(self) -> list[str]:
        """What could not be kept."""
        return self._sound.warnings if self._sound else []

    def write(self, picture: NDArray[np.uint8], time_s: float) -> None:
        """Add RGB (height, width, 3), shown from `time_s` on; times grow."""
        frame = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(
            format="yuv420p", dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG
        )
        frame.pts, frame.time_base = round(time_s / TIME_BASE), TIME_BASE
        self._end_s = time_s + self._picture_s
        if self._sound:
            self._sound.copy_until(time_s)
        self._container.mux(self._video.encode(frame))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if error is None:
                self._container.mux(self._video.encode(None))
                if self._sound:
                    self._sound.copy_until(self._end_s)
        finally:
            self._container.close()
            if self._sound:
                self._sound.close()


class _Sound:
    """The packets of a clip's first sound track, copied as time goes on."""

    def __init__(self, path: Path, output: OutputContainer) -> None:
        self.warnings: list[str] = []
        self._input = av.open(str(path))
        self._output = output
        self._stream: AudioStream | None = None
        self._packets: Iterator[Packet[AudioStream]] = iter(())
        self._next: Packet[AudioStream] | None = None
        if not self._input.streams.audio:
            return
        track = self._input.streams.audio[0]
        if track.codec_context.name not in output.supported_codecs:
            self.warnings.append(f"the sound ({track.codec_context.name}) does not fit into the output: left out")
            return
        self._stream = output.add_stream_from_template(track)
        # Frames count their time from the start of the clip, packets from wherever its clock began.
        start_s = Fraction(self._input.start_time or 0, av.time_base)
        self._shift = round(start_s / (track.time_base or TIME_BASE))
        self._packets = self._input.demux(track)
        self._advance()

    def copy_until(self, time_s: float) -> None:
        """Copy what begins before `time_s`."""
        while self._stream and (packet := self._next) and (packet.pts or 0) * packet.time_base < time_s:
            packet.stream = self._stream
            self._output.mux(packet)
            self._advance()

    def _advance(self) -> None:
        """Fetch the next packet that is heard after the first picture; None at the end."""
        self._next = None
        try:
            for packet in self._packets:
                if packet.pts is None or packet.dts is None:
                    continue
                packet.pts, packet.dts = packet.pts - self._shift, packet.dts - self._shift
                if packet.pts + (packet.duration or 0) > 0:
                    self._next = packet
                    return
        except FFmpegError as error:
            self.warnings.append(f"the sound is damaged and ends early: {error.strerror}")

    def close(self) -> None:
        """Close the clip the sound comes from."""
        self._input.close()
