"""The clips that the benchmarks use, made once from the stills and kept in benchmarks/work.

The stills and their animation are the tests': scripts/bench puts the folder tests on the path.
"""

from __future__ import annotations

from pathlib import Path

import av

from _measure import HERE, WORK
from support.animate import Clip, beep, write_clip
from support.people import still
from support.scenes import talking_head

SOURCE = HERE.parent / "tests" / "stills" / "astronaut.png"


def talking_clip(width: int, height: int, seconds: float) -> Path:
    """A clip with one moving face and sound, H.264, 25 frames a second."""
    path = WORK / f"talking_{width}x{height}_{seconds:g}s.mp4"
    if not path.exists():
        WORK.mkdir(exist_ok=True)
        scene = talking_head(still("grace_hopper"), width=width, height=height, seconds=seconds)
        part = path.with_suffix(".part.mp4")
        write_clip(Clip(scene), part, options={"crf": "18", "preset": "medium"}, sound=beep(seconds))
        part.rename(path)
    return path


def looped(clip: Path, times: int) -> Path:
    """The video of a clip `times` over, packets copied."""
    path = clip.with_name(f"{clip.stem}_x{times}{clip.suffix}")
    if path.exists():
        return path
    part = path.with_suffix(f".part{path.suffix}")
    with av.open(str(clip)) as source, av.open(str(part), "w") as output:
        stream = source.streams.video[0]
        packets = [(p.pts, p.dts, p.is_keyframe, bytes(p)) for p in source.demux(stream) if p.pts is not None]
        copy = output.add_stream_from_template(stream)
        length = stream.duration
        for turn in range(times):
            for pts, dts, is_keyframe, data in packets:
                packet = av.Packet(data)
                packet.stream, packet.time_base, packet.is_keyframe = copy, stream.time_base, is_keyframe
                packet.pts, packet.dts = pts + turn * length, dts + turn * length
                output.mux(packet)
    part.rename(path)
    return path
