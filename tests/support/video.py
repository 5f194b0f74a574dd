"""Makers of awkward video files, and what ffprobe, as an outside judge, says of a file."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np

from mien.media.encoding import Encoding, choose_encoding
from mien.media.segments import SegmentWriter, join
from mien.media.video import VideoFrame, VideoSource
from mien.recipe import Position


def ffmpeg(*arguments: str | Path) -> None:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, arguments)]
    subprocess.run(command, check=True, timeout=60)


def source(size: str = "192x108", rate: str = "25", seconds: float = 1.0) -> list[str]:
    """Moving test picture as an input of ffmpeg."""
    return ["-f", "lavfi", "-i", f"testsrc2=s={size}:r={rate}:d={seconds}"]


def tone(seconds: float = 1.0, frequency: int = 440) -> list[str]:
    """Sine tone as an input of ffmpeg."""
    return ["-f", "lavfi", "-i", f"sine=f={frequency}:r=48000:d={seconds}"]


def h264(*more: str) -> list[str]:
    return ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", *more]


def clip(path: Path, *options: str, size: str = "192x108", rate: str = "25", seconds: float = 1.0) -> Path:
    """A clip with B-frames and no sound, unless `options` say otherwise."""
    ffmpeg(*source(size, rate, seconds), *(options or h264("-bf", "2")), path)
    return path


def damage(path: Path, broken: Path, numbers: set[int]) -> Path:
    """A copy in which the packets `numbers` of the video are noise but for their first bytes."""
    with av.open(str(path)) as container, av.open(str(broken), "w") as output:
        stream = container.streams.video[0]
        copy = output.add_stream_from_template(stream, opaque=True)
        for number, packet in enumerate(packet for packet in container.demux(stream) if packet.size):
            data = bytes(packet)
            if number in numbers:
                noise = av.Packet(data[:1] + b"\xff" * 9 + random.Random(number).randbytes(len(data) - 10))
                noise.pts, noise.dts, noise.time_base = packet.pts, packet.dts, packet.time_base
                noise.is_keyframe = packet.is_keyframe
                packet = noise
            packet.stream = copy
            output.mux(packet)
    return broken


def ffprobe(path: Path, *arguments: str) -> dict[str, Any]:
    command = ["ffprobe", "-v", "error", "-of", "json", *arguments, str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


def streams(path: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """Streams as ffprobe describes them; `kind` as `v`, `a`, `s`, `d`, `t`."""
    return ffprobe(path, "-show_streams", *(["-select_streams", kind] if kind else []))["streams"]


def times(path: Path, stream: str = "v:0") -> list[float]:
    """Presentation times of decoded frames, in seconds."""
    entries = "frame=best_effort_timestamp_time"
    frames = ffprobe(path, "-select_streams", stream, "-show_entries", entries)["frames"]
    return [float(frame["best_effort_timestamp_time"]) for frame in frames]


def packets(path: Path, stream: str) -> list[tuple[float, str]]:
    """Time in seconds and hash of each packet."""
    entries = ["-show_data_hash", "md5", "-show_entries", "packet=pts_time,data_hash"]
    return [
        (float(packet["pts_time"]), packet["data_hash"])
        for packet in ffprobe(path, "-select_streams", stream, *entries)["packets"]
    ]


def pictures(path: Path, first: int = 0) -> list[np.ndarray]:
    """Stored luma of all frames."""
    return [luma(frame) for frame in VideoSource(path).frames(first)]


def luma(frame: VideoFrame) -> np.ndarray:
    return frame.picture.to_ndarray().copy()


def rewrite(
    target: Path,
    output: Path,
    *,
    seconds: float = 1.0,
    edit: Callable[[VideoFrame], None] | None = None,
    start: str | None = None,
    end: str | None = None,
    audio: Any = "keep",
    **settings: Any,
) -> tuple[Encoding, list[str]]:
    """The whole way of a video: read, edit, encode in segments, join. Returns the encoding and all warnings."""
    positions = [Position.parse(text) if text else None for text in (start, end)]
    video = VideoSource(target, start=positions[0], end=positions[1])
    encoding = choose_encoding(video.info, output.suffix, **settings)
    parts = encode(video, encoding, output.parent / f"{output.name}.parts", seconds=seconds, edit=edit)
    warnings = join(video, parts, output, audio=audio)
    return encoding, [*video.warnings, *encoding.warnings, *warnings]


def encode(
    video: VideoSource,
    encoding: Encoding,
    folder: Path,
    *,
    seconds: float = 1.0,
    edit: Callable[[VideoFrame], None] | None = None,
) -> Sequence[Path]:
    folder.mkdir(exist_ok=True)
    parts: list[Path] = []
    for segment in video.segments(seconds):
        parts.append(folder / f"{segment.number}.seg")
        with SegmentWriter(parts[-1], video, encoding) as writer:
            for frame in video.frames(segment.first, segment.end):
                if edit:
                    edit(frame)
                writer.write(frame)
    return parts
