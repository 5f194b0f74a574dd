"""Memory of finished segments goes back to the system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mien.media.encoding import choose_encoding
from mien.media.heap import trim_heap
from mien.media.segments import SegmentWriter
from mien.media.video import VideoSource
from support.video import clip, h264


def resident_megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_segments_do_not_pile_up(tmp_path: Path) -> None:
    video = VideoSource(clip(tmp_path / "a.mp4", *h264(), size="1280x720"))
    encoding = choose_encoding(video.info, ".mp4", preset="ultrafast")
    sizes: list[float] = []
    for _ in range(8):
        with SegmentWriter(tmp_path / "0.seg", video, encoding) as writer:
            for frame in video.frames():
                writer.write(frame)
        sizes.append(resident_megabytes())
    assert max(sizes[4:]) < 1.12 * max(sizes[:2])


def test_trimming_changes_nothing_that_is_in_use() -> None:
    kept = bytearray(b"x" * 5_000_000)
    trim_heap()
    assert kept == b"x" * 5_000_000
