"""Reading video, with ffprobe as the judge of frame counts and time stamps."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mien.errors import UnreadableError, UsageError
from mien.geometry import Rect
from mien.media.video import VideoSource
from mien.recipe import Position
from support.video import clip, damage, ffmpeg, h264, luma, pictures, source, times, tone


def read_times(path: Path) -> list[float]:
    video = VideoSource(path)
    return [float(frame.pts * video.time_base) for frame in video.frames()]


def variable_rate(path: Path) -> Path:
    """2 s at 10 frames/s, then 1 s at 30."""
    ffmpeg(*source(rate="30", seconds=3), "-vf", "select='if(lt(t,2),not(mod(n,3)),1)'", "-vsync", "vfr", *h264(), path)
    return path


def edit_list(path: Path) -> Path:
    """Starts in the middle of a group of pictures: the frames before are coded, but never shown."""
    whole = clip(path.with_name("whole.mp4"), *h264("-bf", "2", "-g", "50"), seconds=2)
    ffmpeg("-ss", "0.72", "-i", whole, "-c", "copy", path)
    return path


def late_start(path: Path) -> Path:
    ffmpeg("-itsoffset", "1.5", *source(), *tone(2), "-vsync", "passthrough", *h264("-bf", "2"), path)
    return path


def without_presentation_times(path: Path) -> Path:
    return clip(path, *h264("-bf", "2"))


CASES = {
    "constant.mp4": clip,
    "variable.mp4": variable_rate,
    "variable.mkv": variable_rate,
    "edited.mp4": edit_list,
    "late.mp4": late_start,
    "late.mkv": late_start,
    "ntsc.mov": lambda path: clip(path, *h264("-bf", "2"), rate="30000/1001"),
    "open.mkv": lambda path: clip(path, *h264("-g", "10", "-bf", "3", "-x264-params", "open-gop=1"), seconds=2),
    "hidden.webm": lambda path: clip(path, "-c:v", "libvpx", "-auto-alt-ref", "1", "-lag-in-frames", "16", seconds=2),
    "vp9.webm": lambda path: clip(path, "-c:v", "libvpx-vp9", "-cpu-used", "8", "-g", "15", seconds=2),
    "fragmented.mp4": lambda path: clip(path, *h264("-g", "10", "-movflags", "frag_keyframe+empty_moov"), seconds=2),
    "live.mkv": lambda path: clip(path, *h264("-g", "10", "-live", "1"), seconds=2),
    "nut.nut": lambda path: clip(path, *h264("-g", "10", "-bf", "2"), seconds=2),
    "stream.ts": lambda path: clip(path, *h264("-bf", "2", "-g", "10"), seconds=2),
    "mpeg4.avi": lambda path: clip(path, "-c:v", "mpeg4", "-bf", "0", "-g", "12"),
    "prores.mov": lambda path: clip(path, "-c:v", "prores_ks"),
}


@pytest.mark.parametrize("name", CASES)
def test_every_frame_has_its_own_time(tmp_path: Path, name: str) -> None:
    path = CASES[name](tmp_path / name)
    expected = times(path)
    assert read_times(path) == pytest.approx(expected, abs=1e-5)
    assert VideoSource(path).info.frame_count == len(expected)


@pytest.mark.parametrize("name", CASES)
def test_any_first_frame_gives_the_same_pictures(tmp_path: Path, name: str) -> None:
    path = CASES[name](tmp_path / name)
    whole = pictures(path)
    for first in random.Random(0).sample(range(1, len(whole)), 4):
        rest = pictures(path, first)
        assert len(rest) == len(whole) - first
        assert all(np.array_equal(one, two) for one, two in zip(rest, whole[first:], strict=True)), first


def test_avi_without_presentation_times_is_read_in_order(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.avi", *h264("-bf", "2"))
    reference = clip(tmp_path / "a.mkv", *h264("-bf", "2"))
    assert all(np.array_equal(one, two) for one, two in zip(pictures(path), pictures(reference), strict=True))
    steps = np.diff(read_times(path))
    assert steps == pytest.approx(0.04)


def test_a_bare_stream_is_read_in_order(tmp_path: Path) -> None:
    path, reference = clip(tmp_path / "a.h264", *h264("-bf", "2")), clip(tmp_path / "a.mkv", *h264("-bf", "2"))
    assert all(np.array_equal(one, two) for one, two in zip(pictures(path), pictures(reference), strict=True))
    assert np.diff(read_times(path)) == pytest.approx(0.04)


def test_frames_with_the_same_time_are_told_apart(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mkv", "-vf", "setpts=floor(N/2)*2", "-vsync", "passthrough", *h264("-bf", "0"))
    frames = list(VideoSource(path).frames())
    assert [frame.index for frame in frames] == list(range(25))
    assert (np.diff([frame.pts for frame in frames]) > 0).all()


def test_start_and_end_as_time_and_as_frame(tmp_path: Path) -> None:
    path = late_start(tmp_path / "late.mp4")
    whole = pictures(path)
    moments = times(path)
    by_time = VideoSource(path, start=Position(moments[5], None), end=Position(moments[10], None))
    by_frame = VideoSource(path, start=Position(None, 5), end=Position(None, 10))
    for video in (by_time, by_frame):
        frames = list(video.frames())
        assert [frame.index for frame in frames] == [0, 1, 2, 3, 4]
        assert video.info.frame_count == 5
        assert video.info.duration_s == pytest.approx(0.2)
        assert all(np.array_equal(luma(frame), whole[5 + frame.index]) for frame in frames)
        assert frames[0].time_s == pytest.approx(moments[5])
        assert moments[5] > 1.5


def test_nothing_between_start_and_end(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4")
    with pytest.raises(UsageError, match="25 frames"):
        VideoSource(path, start=Position(7.0, None))


def test_segments_cover_all_frames_and_prefer_keyframes(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4", *h264("-g", "30", "-sc_threshold", "0"), seconds=6)
    video = VideoSource(path)
    segments = video.segments(1.0)
    assert [segment.first for segment in segments] == [0, *(segment.end for segment in segments[:-1])]
    assert segments[-1].end == 150
    assert {segment.first for segment in segments} <= set(video.keyframes())
    assert VideoSource(path).segments(1.0) == segments


def test_segments_without_near_keyframes_are_cut_exactly(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4", *h264("-g", "1000", "-sc_threshold", "0"), seconds=5)
    assert [(segment.first, segment.end) for segment in VideoSource(path).segments(2.0)] == [(0, 50), (50, 125)]


def test_rotation_is_seen_upright(tmp_path: Path) -> None:
    plain = clip(tmp_path / "plain.mp4")
    turned = tmp_path / "turned.mp4"
    ffmpeg("-i", plain, "-c", "copy", "-metadata:s:v", "rotate=90", turned)
    upright = tmp_path / "upright.mkv"
    ffmpeg("-i", turned, "-c:v", "ffv1", upright)  # ffmpeg turns the pictures itself.
    ours, theirs = next(VideoSource(turned).frames()), next(VideoSource(upright).frames())
    assert (ours.width, ours.height) == (theirs.width, theirs.height) == (108, 192)
    assert np.abs(ours.display().astype(int) - theirs.display()).mean() < 1
    rect = Rect(20, 30, 40, 50)
    assert np.abs(ours.working(rect) - theirs.working(rect)).mean() < 0.01


def test_editing_a_frame_leaves_the_others_alone(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4", *h264("-bf", "2"))
    untouched = pictures(path)
    rect = Rect(40, 20, 64, 64)
    for frame in VideoSource(path).frames():
        assert np.array_equal(luma(frame), untouched[frame.index])
        patch = frame.working(rect)
        frame.apply(rect, patch, 1 - patch)
        assert not np.array_equal(luma(frame), untouched[frame.index])


def test_cover_art_is_not_the_video(tmp_path: Path) -> None:
    cover = tmp_path / "cover.png"
    ffmpeg(*source("64x64", seconds=0.04), "-frames:v", "1", cover)
    path = tmp_path / "a.mp4"
    ffmpeg(
        "-i",
        cover,
        *source(),
        "-map",
        "0",
        "-map",
        "1",
        "-c:v:0",
        "png",
        "-c:v:1",
        "libx264",
        "-disposition:v:0",
        "attached_pic",
        path,
    )
    info = VideoSource(path).info
    assert (info.width, info.codec, info.frame_count) == (192, "h264", 25)


def test_interlaced_is_said(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4", *h264("-flags", "+ildct+ilme", "-x264opts", "tff=1"))
    video = VideoSource(path)
    assert video.info.interlaced
    assert any("interlaced" in warning for warning in video.warnings)


@pytest.mark.parametrize("codec", ["h264", "vp9"])
def test_broken_packets_are_skipped_and_said(tmp_path: Path, codec: str) -> None:
    coding = h264("-bf", "0", "-g", "10") if codec == "h264" else ["-c:v", "libvpx-vp9", "-cpu-used", "8", "-g", "10"]
    broken = damage(clip(tmp_path / "a.mkv", *coding, seconds=2), tmp_path / "broken.mkv", {13, 22, 23})
    video = VideoSource(broken)
    indexes = [frame.index for frame in video.frames()]
    assert video.info.frame_count == 50
    assert {*range(13), *range(30, 50)} <= set(indexes) <= set(range(50))
    assert any("damaged" in warning for warning in video.warnings)


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
def test_a_target_that_ends_early_gives_what_is_there(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    ffmpeg(*source(seconds=4), *h264(), *(["-movflags", "faststart"] if suffix == "mp4" else []), path)
    cut = tmp_path / f"cut.{suffix}"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    video = VideoSource(cut)
    count = len(list(video.frames()))
    assert 20 < count < 80
    assert any("ends early" in warning for warning in video.warnings)


def test_size_that_changes_in_the_middle(tmp_path: Path) -> None:
    small, large = clip(tmp_path / "s.ts", size="96x54"), clip(tmp_path / "l.ts")
    path = tmp_path / "both.ts"
    path.write_bytes(small.read_bytes() + large.read_bytes())
    video = VideoSource(path)
    frames = list(video.frames())
    assert [frame.index for frame in frames] == list(range(50))
    assert {(frame.width, frame.height) for frame in frames} == {(96, 54)}
    assert any("scaled" in warning for warning in video.warnings)


def test_formats_that_are_no_planes_are_converted_without_loss(tmp_path: Path) -> None:
    planar = clip(tmp_path / "a.mkv", "-c:v", "rawvideo", "-pix_fmt", "yuv420p")
    woven = clip(tmp_path / "b.mkv", "-c:v", "rawvideo", "-pix_fmt", "nv12")
    assert VideoSource(woven).info.editing_format == "yuv420p"
    assert VideoSource(woven).warnings == []
    assert all(np.array_equal(one, two) for one, two in zip(pictures(planar), pictures(woven), strict=True))


def text(path: Path) -> Path:
    path.write_text("this is no video\n" * 50)
    return path


def sound(path: Path) -> Path:
    ffmpeg(*tone(), "-c:a", "aac", path)
    return path


def headless(path: Path) -> Path:
    whole = clip(path.with_name("whole.mp4"), seconds=2)
    path.write_bytes(whole.read_bytes()[:4000])
    return path


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("missing.mp4", lambda path: path),
        ("folder.mp4", lambda path: path.mkdir() or path),
        ("empty.mp4", lambda path: path.touch() or path),
        ("text.mp4", text),
        ("text.txt", text),
        ("sound.m4a", sound),
        ("headless.mp4", headless),
    ],
)
def test_what_is_no_video_is_named(tmp_path: Path, name: str, make) -> None:
    path = make(tmp_path / name)
    with pytest.raises(UnreadableError, match=name.replace(".", r"\.")):
        VideoSource(path)


def test_a_relative_name_with_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip(tmp_path / "a.mp4").rename(tmp_path / "12:30 100%d.mp4")
    monkeypatch.chdir(tmp_path)
    assert VideoSource("12:30 100%d.mp4").info.frame_count == 25


def test_a_path_in_any_script(tmp_path: Path) -> None:
    folder = tmp_path / "üñí 视频 x"
    folder.mkdir()
    assert VideoSource(clip(folder / "目标.mp4")).info.frame_count == 25


def test_a_file_without_read_permission(tmp_path: Path) -> None:
    path = clip(tmp_path / "a.mp4")
    path.chmod(0)
    if subprocess.run(["cat", path], capture_output=True).returncode == 0:
        pytest.skip("this user may read everything")
    with pytest.raises(UnreadableError, match="ermission"):
        VideoSource(path)
