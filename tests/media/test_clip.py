"""New clips for people to look at: exact times, copied sound, honest colour tags, checked with ffprobe."""

import json
import subprocess
from fractions import Fraction

import numpy as np
import pytest

from mien.errors import UnsupportedMediaError
from mien.media.clip import CLIP_SUFFIXES, ClipWriter

RED = np.full((64, 96, 3), (200, 30, 40), np.uint8)


def probe(path, *what):
    shown = subprocess.run(
        ["ffprobe", "-v", "error", *what, "-of", "json", str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(shown.stdout)


def write(path, times_s, **settings):
    with ClipWriter(path, 96, 64, frame_rate=Fraction(25), **settings) as clip:
        for number, time_s in enumerate(times_s):
            clip.write(RED // (1 + number % 2), time_s)
    return clip


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Two seconds of sound and picture whose clock begins at 5 s."""
    path = tmp_path_factory.mktemp("sound") / "late.mkv"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=s=64x64:r=25:d=2", "-f", "lavfi", "-i", "sine=440:d=2",
         "-c:a", "aac", "-output_ts_offset", "5", str(path)],
        check=True,
    )  # fmt: skip
    return path


@pytest.mark.parametrize("suffix", sorted(CLIP_SUFFIXES))
def test_times_are_kept_whatever_their_spacing(suffix, tmp_path):
    times_s = [0.0, 0.04, 0.05, 0.5, 0.533, 1.25]
    write(tmp_path / f"clip{suffix}", times_s)
    frames = probe(tmp_path / f"clip{suffix}", "-show_entries", "frame=pts_time")["frames"]
    assert [float(frame["pts_time"]) for frame in frames] == pytest.approx(times_s, abs=6e-4)


def test_colours_and_their_tags_agree(tmp_path):
    write(tmp_path / "clip.mp4", [0.0, 0.04])
    (stream,) = probe(tmp_path / "clip.mp4", "-show_streams")["streams"]
    assert (stream["color_space"], stream["color_range"]) == ("bt709", "tv")
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(tmp_path / "clip.mp4"), "-frames:v", "1", "-f", "rawvideo",
         "-pix_fmt", "rgb24", "-"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    np.testing.assert_allclose(np.frombuffer(raw, np.uint8).reshape(RED.shape)[20:40, 20:60], RED[20:40, 20:60], atol=4)


def test_sound_is_copied_from_the_start_of_its_clip_to_the_end_of_the_pictures(sound, tmp_path):
    clip = write(tmp_path / "clip.mp4", [number / 25 for number in range(25)], sound=sound)
    assert clip.warnings == []
    found = {stream["codec_type"]: stream for stream in probe(tmp_path / "clip.mp4", "-show_streams")["streams"]}
    assert float(found["audio"]["start_time"]) == pytest.approx(0, abs=0.03)
    assert float(found["audio"]["duration"]) == pytest.approx(1.0, abs=0.05)
    assert found["video"]["nb_frames"] == "25"


def test_a_clip_without_sound_gives_none(tmp_path):
    write(tmp_path / "silent.mp4", [0.0, 0.04])
    write(tmp_path / "clip.mp4", [0.0, 0.04], sound=tmp_path / "silent.mp4")
    assert len(probe(tmp_path / "clip.mp4", "-show_streams")["streams"]) == 1


def test_a_sound_that_the_container_cannot_hold_is_left_out_and_said(sound, tmp_path):
    clip = write(tmp_path / "clip.webm", [0.0, 0.04], sound=sound)
    assert clip.warnings == ["the sound (aac) does not fit into the output: left out"]


def test_other_names_are_refused(tmp_path):
    with pytest.raises(UnsupportedMediaError, match=r"\.mkv, \.mov, \.mp4, \.webm"):
        write(tmp_path / "clip.txt", [0.0])
