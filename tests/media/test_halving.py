from pathlib import Path

from PIL import Image

from mien.media.halving import halve_picture, halve_video
from support.jobs import HOPPER
from support.video import ffmpeg, h264, source, streams, times, tone


def test_a_picture_is_half_as_large(tmp_path: Path) -> None:
    halve_picture(Path(HOPPER), tmp_path / "half.png")
    with Image.open(HOPPER) as whole, Image.open(tmp_path / "half.png") as half:
        assert half.size == (whole.width // 2, whole.height // 2)


def test_a_video_keeps_its_times_and_sound(tmp_path: Path) -> None:
    whole, half = tmp_path / "clip.mp4", tmp_path / "half.mkv"
    ffmpeg(*source("194x110"), *tone(), *h264("-bf", "2"), "-c:a", "aac", whole)
    halve_video(whole, half)
    (stream,) = streams(half, "v")
    assert (stream["width"], stream["height"]) == (96, 54)
    shifts = [abs(one - other) for one, other in zip(times(whole), times(half), strict=True)]
    assert max(shifts) <= 0.001  # Matroska counts milliseconds.
    assert len(streams(half, "a")) == 1
    assert not list(tmp_path.glob("*.packets"))
