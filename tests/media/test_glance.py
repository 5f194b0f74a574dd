from pathlib import Path

import numpy as np
import pytest

from mien.errors import UnreadableError
from mien.media.encoding import choose_encoding
from mien.media.glance import first_picture
from mien.media.video import VideoSource
from support.video import clip, encode


@pytest.mark.parametrize(("suffix", "codec"), [(".mp4", "h264"), (".mkv", "hevc"), (".webm", "vp9")])
def test_the_first_picture_of_a_segment_is_that_of_its_frames(tmp_path: Path, suffix: str, codec: str) -> None:
    video = VideoSource(clip(tmp_path / "clip.mp4", seconds=1.0))
    parts = encode(video, choose_encoding(video.info, suffix, codec=codec), tmp_path / "parts", seconds=0.5)
    for part, segment in zip(parts, video.segments(0.5), strict=True):
        expected = next(iter(video.frames(segment.first, segment.first + 1))).display()
        shown = np.asarray(first_picture(part).convert("RGB"), np.int16)
        assert shown.shape == expected.shape
        assert np.abs(shown - expected).mean() < 8


def test_packets_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "0000.packets").write_bytes(b"nothing")
    with pytest.raises(UnreadableError):
        first_picture(tmp_path / "0000.packets")
