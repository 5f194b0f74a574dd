"""From frames to a file and back, with ffprobe as the judge."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mien.errors import UnreadableError, UnwritableError
from mien.geometry import Rect
from mien.media.encoding import choose_encoding
from mien.media.segments import SegmentWriter, join, usable
from mien.media.video import VideoSource
from support.video import (
    clip,
    encode,
    ffmpeg,
    ffprobe,
    h264,
    packets,
    pictures,
    rewrite,
    source,
    streams,
    times,
    tone,
)


def variable(path: Path) -> Path:
    ffmpeg(*source(rate="30", seconds=3), "-vf", "select='if(lt(t,2),not(mod(n,3)),1)'", "-vsync", "vfr", *h264(), path)
    return path


def late(path: Path) -> Path:
    ffmpeg("-itsoffset", "1.5", *source(seconds=3), *tone(2), "-vsync", "passthrough", *h264("-bf", "2"), path)
    return path


def edited(path: Path) -> Path:
    whole = clip(path.with_name(f"whole{path.suffix}"), *h264("-bf", "2", "-g", "50"), seconds=3)
    ffmpeg("-ss", "0.72", "-i", whole, "-c", "copy", path)
    return path


KINDS = {
    "h264.mp4": lambda path: clip(path),
    "h264.mov": lambda path: clip(path, *h264("-bf", "2"), rate="30000/1001"),
    "h264.mkv": lambda path: clip(path, rate="24000/1001"),
    "hevc.mp4": lambda path: clip(path, "-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1"),
    "vp9.webm": lambda path: clip(path, "-c:v", "libvpx-vp9", "-cpu-used", "8", size="96x54"),
    "vp8.webm": lambda path: clip(path, "-c:v", "libvpx", "-cpu-used", "8", size="96x54"),
    "av1.mp4": lambda path: clip(path, "-c:v", "libsvtav1", "-preset", "12", seconds=2),
    "mpeg4.avi": lambda path: clip(path, "-c:v", "mpeg4", seconds=2),
    "mpeg4.mp4": lambda path: clip(path, "-c:v", "mpeg4", "-bf", "2", seconds=2),
    "prores.mov": lambda path: clip(path, "-c:v", "prores_ks", "-pix_fmt", "yuv422p10le"),
    "ffv1.mkv": lambda path: clip(path, "-c:v", "ffv1"),
    "mjpeg.avi": lambda path: clip(path, "-c:v", "mjpeg"),
    "stream.ts": lambda path: clip(path, seconds=2),
    "variable.mp4": variable,
    "variable.mkv": variable,
    # Matroska leaves out the first decoding times of a stream with B-frames; here they are seconds before the others.
    "slow.mkv": lambda path: clip(path, *h264("-bf", "3"), rate="2", seconds=8),
    "late.mp4": late,
    "late.mkv": late,
    "edited.mp4": edited,
}
KEPT = ("codec_name", "width", "height", "pix_fmt", "color_range", "color_space")
KEPT += ("color_primaries", "color_transfer", "field_order", "time_base")


@pytest.mark.parametrize("name", KINDS)
def test_frame_times_and_properties_stay(tmp_path: Path, name: str) -> None:
    target = KINDS[name](tmp_path / name)
    output = tmp_path / f"out{target.suffix}"
    _, warnings = rewrite(target, output, seconds=0.4)
    assert warnings == []
    assert times(output) == pytest.approx(times(target), abs=1e-6)
    before, after = streams(target, "v")[0], streams(output, "v")[0]
    assert {key: after.get(key) for key in KEPT if key in before} == {key: before[key] for key in KEPT if key in before}
    for one, two in zip(pictures(target), pictures(output), strict=True):
        assert np.abs(one.astype(int) - two).mean() < 2.5


def rich(path: Path) -> Path:
    """Matroska with two languages, subtitles, chapters, a font and tags."""
    subtitles = path.with_name("lines.srt")
    subtitles.write_text("1\n00:00:00,200 --> 00:00:01,000\nFirst\n\n2\n00:00:01,500 --> 00:00:02,500\nSecond\n")
    chapters = path.with_name("chapters.txt")
    chapters.write_text(
        ";FFMETADATA1\ntitle=A film\nMY_TAG=own\n"
        "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1200\ntitle=One\n"
        "[CHAPTER]\nTIMEBASE=1/1000\nSTART=1200\nEND=3000\ntitle=Two\n"
    )
    font = path.with_name("font.ttf")
    font.write_bytes(bytes(range(256)) * 8)
    ffmpeg(
        *source(seconds=3),
        *tone(3),
        *tone(3, 880),
        "-i",
        subtitles,
        "-i",
        chapters,
        "-map",
        "0",
        "-map",
        "1",
        "-map",
        "2",
        "-map",
        "3",
        "-map_metadata",
        "4",
        *h264("-bf", "2"),
        "-c:a:0",
        "aac",
        "-c:a:1",
        "libopus",
        "-c:s",
        "srt",
        "-attach",
        font,
        "-metadata:s:t",
        "mimetype=font/ttf",
        "-metadata:s:a:0",
        "language=eng",
        "-metadata:s:a:1",
        "language=deu",
        "-metadata:s:a:1",
        "title=Kommentar",
        "-metadata:s:s:0",
        "language=fra",
        "-disposition:a:1",
        "comment",
        "-disposition:s:0",
        "forced",
        path,
    )
    return path


def test_all_other_streams_are_copied(tmp_path: Path) -> None:
    target, output = rich(tmp_path / "rich.mkv"), tmp_path / "out.mkv"
    _, warnings = rewrite(target, output)
    assert warnings == []
    for stream in ("a:0", "a:1", "s:0"):
        assert packets(output, stream) == packets(target, stream)
    facts = ("codec_name", "codec_type", "disposition", "extradata_size")
    for before, after in zip(streams(target), streams(output), strict=True):
        assert {key: after.get(key) for key in facts[: 4 if before["codec_type"] != "video" else 3]} == {
            key: before.get(key) for key in facts[: 4 if before["codec_type"] != "video" else 3]
        }
        for tag in ("language", "title", "filename", "mimetype"):
            assert after.get("tags", {}).get(tag) == before.get("tags", {}).get(tag)
    before, after = (ffprobe(path, "-show_chapters", "-show_format") for path in (target, output))
    assert after["chapters"] == before["chapters"]
    assert after["format"]["tags"]["title"] == "A film"
    assert after["format"]["tags"]["MY_TAG"] == "own"


def test_sound_can_be_left_out(tmp_path: Path) -> None:
    rewrite(rich(tmp_path / "rich.mkv"), tmp_path / "out.mkv", audio="none")
    assert [stream["codec_type"] for stream in streams(tmp_path / "out.mkv")] == ["video", "subtitle", "attachment"]


@pytest.mark.parametrize("seconds", [1.0, 3.0])
def test_sound_shorter_and_longer_than_the_video(tmp_path: Path, seconds: float) -> None:
    target, output = tmp_path / "a.mp4", tmp_path / "out.mp4"
    ffmpeg(*source(seconds=2), *tone(seconds), *h264("-bf", "2"), "-c:a", "aac", target)
    _, warnings = rewrite(target, output)
    assert warnings == []
    assert times(output) == times(target)
    assert packets(output, "a:0") == packets(target, "a:0")
    for kind in "va":
        before, after = streams(target, kind)[0], streams(output, kind)[0]
        assert float(after["duration"]) == pytest.approx(float(before["duration"]), abs=0.001)


def test_mp4_tags_rotation_and_cover(tmp_path: Path) -> None:
    plain, target, output = clip(tmp_path / "plain.mp4", seconds=2), tmp_path / "a.mp4", tmp_path / "out.mp4"
    ffmpeg(
        "-i",
        plain,
        *tone(2),
        "-c:v",
        "copy",
        "-c:a",
        "aac",
        "-metadata:s:v",
        "rotate=90",
        "-movflags",
        "use_metadata_tags",
        "-metadata",
        "com.maker.model=X1",
        "-metadata",
        "creation_time=2020-01-02T03:04:05Z",
        "-metadata:s:a",
        "language=jpn",
        target,
    )
    _, warnings = rewrite(target, output)
    assert warnings == []
    tags = ffprobe(output, "-show_format")["format"]["tags"]
    assert tags["com.maker.model"] == "X1"
    assert tags["creation_time"].startswith("2020-01-02T03:04:05")
    assert streams(output, "a")[0]["tags"]["language"] == "jpn"
    assert streams(output, "v")[0]["side_data_list"] == streams(target, "v")[0]["side_data_list"]
    assert packets(output, "a:0") == packets(target, "a:0")
    data = output.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_time_code_chapters_and_text_of_a_mov(tmp_path: Path) -> None:
    subtitles, chapters = tmp_path / "lines.srt", tmp_path / "chapters.txt"
    subtitles.write_text("1\n00:00:00,200 --> 00:00:01,000\nFirst\n")
    chapters.write_text(";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=One\n")
    target, output = tmp_path / "a.mov", tmp_path / "out.mov"
    ffmpeg(
        *source(),
        *tone(),
        "-i",
        subtitles,
        "-i",
        chapters,
        "-map",
        "0",
        "-map",
        "1",
        "-map",
        "2",
        "-map_metadata",
        "3",
        *h264("-bf", "2"),
        "-c:s",
        "mov_text",
        "-timecode",
        "01:00:00:00",
        target,
    )
    _, warnings = rewrite(target, output)
    assert warnings == []
    assert streams(output, "v")[0]["tags"]["timecode"] == "01:00:00:00"
    for stream in ("a:0", "s:0"):
        assert packets(output, stream) == packets(target, stream)
    before, after = (ffprobe(path, "-show_chapters")["chapters"] for path in (target, output))
    assert [entry["tags"] for entry in after] == [entry["tags"] for entry in before]
    assert len(streams(output)) == len(streams(target))


def test_sound_that_starts_early_moves_nothing_in_matroska(tmp_path: Path) -> None:
    target, output = tmp_path / "a.mp4", tmp_path / "out.mkv"
    ffmpeg(*source(), *tone(), *h264("-bf", "2"), "-c:a", "aac", target)
    rewrite(target, output)
    assert times(output) == pytest.approx(times(target), abs=0.0006)
    early, late = packets(target, "a:0"), packets(output, "a:0")
    assert [data for _, data in early] == [data for _, data in late]
    assert early[0][0] < 0
    assert [time for time, _ in late] == pytest.approx([time for time, _ in early], abs=0.0006)


@pytest.mark.parametrize("name", ["steady.mp4", "steady.mkv", "uneven.mp4"])
def test_avi_has_no_gaps_but_where_frames_are_late(tmp_path: Path, name: str) -> None:
    target = variable(tmp_path / name) if "uneven" in name else clip(tmp_path / name, rate="30000/1001")
    output = tmp_path / "out.avi"
    _, warnings = rewrite(target, output)
    assert any("variable" in warning for warning in warnings) == ("uneven" in name)
    video = VideoSource(output)
    shown = [float(frame.pts * video.time_base) for frame in video.frames()]
    expected = times(target)
    assert np.diff(shown) == pytest.approx(np.diff(expected), abs=0.0011)
    assert output.stat().st_size < 3 * target.stat().st_size
    assert int(streams(output, "v")[0]["nb_frames"]) == (90 if "uneven" in name else len(expected))


def test_appended_recordings_follow_each_other(tmp_path: Path) -> None:
    part, target, output = tmp_path / "part.ts", tmp_path / "twice.ts", tmp_path / "out.mp4"
    ffmpeg(*source(), *tone(), *h264("-bf", "2"), "-c:a", "aac", part)
    target.write_bytes(part.read_bytes() * 2)
    _, warnings = rewrite(target, output)
    assert any("starts again" in warning for warning in warnings)
    shown = times(output)
    assert len(shown) == 50
    assert np.diff(shown) == pytest.approx(0.04, abs=0.001)
    sound = [time for time, _ in packets(output, "a:0")]
    assert len(sound) == 2 * len(packets(part, "a:0"))
    assert np.diff(sound) == pytest.approx(1024 / 48000, abs=0.001)


@pytest.mark.parametrize("suffix", [".avi", ".ts"])
def test_a_turn_that_cannot_be_noted_is_said(tmp_path: Path, suffix: str) -> None:
    plain, target = clip(tmp_path / "plain.mp4"), tmp_path / "a.mp4"
    ffmpeg("-i", plain, "-c", "copy", "-metadata:s:v", "rotate=90", target)
    _, warnings = rewrite(target, tmp_path / f"out{suffix}")
    assert any("90 degrees" in warning for warning in warnings)


def test_cover_art_stays(tmp_path: Path) -> None:
    cover, target, output = tmp_path / "cover.png", tmp_path / "a.mp4", tmp_path / "out.mp4"
    ffmpeg(*source("64x64", seconds=0.04), "-frames:v", "1", cover)
    ffmpeg(
        *source(),
        "-i",
        cover,
        "-map",
        "0",
        "-map",
        "1",
        *h264(),
        "-c:v:1",
        "copy",
        "-disposition:v:1",
        "attached_pic",
        target,
    )
    _, warnings = rewrite(target, output)
    assert warnings == []
    hashes = [
        ffprobe(path, "-select_streams", "v:1", "-show_data_hash", "md5", "-show_packets") for path in (target, output)
    ]
    assert hashes[0]["packets"][0]["data_hash"] == hashes[1]["packets"][0]["data_hash"]
    assert streams(output)[1]["disposition"]["attached_pic"] == 1


def test_a_trimmed_video_starts_at_zero_with_its_sound(tmp_path: Path) -> None:
    target, output = rich(tmp_path / "rich.mkv"), tmp_path / "out.mkv"
    _, warnings = rewrite(target, output, start="1.0", end="50f")
    assert warnings == []
    zero, over = times(target)[25], times(target)[50]
    assert times(output) == pytest.approx([time - zero for time in times(target)[25:50]], abs=0.0011)
    for stream in ("a:0", "a:1"):
        expected = [(time - zero, data) for time, data in packets(target, stream) if zero <= time < over]
        kept = packets(output, stream)
        assert [data for _, data in kept] == [data for _, data in expected]
        assert [time for time, _ in kept] == pytest.approx([time for time, _ in expected], abs=0.0011)
    assert [time for time, _ in packets(output, "s:0")] == pytest.approx([1.5 - zero], abs=0.03)
    chapters = ffprobe(output, "-show_chapters")["chapters"]
    assert [(float(chapter["start_time"]), float(chapter["end_time"])) for chapter in chapters] == [
        (0, pytest.approx(1.2 - zero, abs=0.001)),
        (pytest.approx(1.2 - zero, abs=0.001), pytest.approx(over - zero, abs=0.001)),
    ]


def test_streams_a_container_cannot_hold_are_said(tmp_path: Path) -> None:
    target = rich(tmp_path / "rich.mkv")
    _, warnings = rewrite(target, tmp_path / "out.mp4")
    assert any("subtitle stream 3" in warning and "left out" in warning for warning in warnings)
    assert any("attachment stream 4" in warning for warning in warnings)
    assert len(warnings) == 2
    for stream in ("a:0", "a:1"):
        assert [data for _, data in packets(tmp_path / "out.mp4", stream)] == [
            data for _, data in packets(target, stream)
        ]


def test_sound_a_container_cannot_hold_is_encoded_anew(tmp_path: Path) -> None:
    target, output = tmp_path / "a.mov", tmp_path / "out.webm"
    ffmpeg(*source(seconds=2), *tone(2), *h264(), "-c:a", "pcm_s16le", target)
    _, warnings = rewrite(target, output, codec="vp9")
    assert any("audio stream 1 (pcm_s16le) is encoded anew as libopus" in warning for warning in warnings)
    audio = streams(output, "a")[0]
    assert audio["codec_name"] == "opus"
    assert packets(output, "a:0")[-1][0] == pytest.approx(2.0, abs=0.05)


COLOURS = {
    "limited 601": ("yuv420p", "tv", "smpte170m", "smpte170m", "smpte170m", ["-c:v", "libx264"]),
    "full 601": ("yuv420p", "pc", "smpte170m", "bt470bg", "bt709", ["-c:v", "libx264"]),
    "limited 709": ("yuv422p", "tv", "bt709", "bt709", "bt709", ["-c:v", "libx264"]),
    "ten bits": ("yuv420p10le", "tv", "bt709", "bt709", "bt709", ["-c:v", "libx264"]),
    "hlg": ("yuv420p10le", "tv", "bt2020nc", "bt2020", "arib-std-b67", ["-c:v", "libx265", "-preset", "ultrafast"]),
    "pq": ("yuv420p10le", "tv", "bt2020nc", "bt2020", "smpte2084", ["-c:v", "libx265", "-preset", "ultrafast"]),
}


PQ = [
    *("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p10le"),
    *("-color_range", "tv", "-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", "smpte2084"),
    *("-chroma_sample_location", "topleft"),
]


@pytest.mark.parametrize("name", COLOURS)
def test_colour_description_stays(tmp_path: Path, name: str) -> None:
    pixels, span, matrix, primaries, transfer, coder = COLOURS[name]
    target, output = tmp_path / "a.mp4", tmp_path / "out.mp4"
    ffmpeg(
        *source(),
        *coder,
        "-pix_fmt",
        pixels,
        "-color_range",
        span,
        "-colorspace",
        matrix,
        "-color_primaries",
        primaries,
        "-color_trc",
        transfer,
        target,
    )
    _, warnings = rewrite(target, output)
    assert warnings == []
    after = streams(output, "v")[0]
    assert after["color_range"] == span
    keys = ("pix_fmt", "color_space", "color_primaries", "color_transfer")
    assert [after[key] for key in keys] == [streams(target, "v")[0][key] for key in keys]
    assert [after["color_space"], after["color_primaries"], after["color_transfer"]] == [matrix, primaries, transfer]


DESCRIPTIONS: dict[str, tuple[list[str], str, dict[str, str]]] = {
    "h264.mp4": (h264("-x264-params", "chromaloc=2"), "out.mp4", {}),
    "h264.mkv": (h264("-x264-params", "chromaloc=3:range=tv:colormatrix=smpte170m"), "out.mkv", {}),
    "vp9.webm": (["-c:v", "libvpx-vp9", "-cpu-used", "8", "-chroma_sample_location", "topleft"], "out.webm", {}),
    "ffv1.mkv": (["-c:v", "ffv1", "-pix_fmt", "yuv420p", "-chroma_sample_location", "topleft"], "out.mkv", {}),
    "mpeg2.ts": (["-c:v", "mpeg2video"], "out.ts", {}),
    "mpeg2.mpg": (["-c:v", "mpeg2video", "-colorspace", "smpte170m"], "out.mp4", {}),
    "pq.mp4": (PQ, "out.mp4", {}),
    "pq.mkv": (PQ, "out.mkv", {}),
    "pq to webm.mkv": (PQ, "out.webm", {}),
    "pq to h264.mp4": (PQ, "out.mp4", {"codec": "h264"}),
    "pq to ffv1.mkv": (PQ, "out.mkv", {"codec": "ffv1"}),
    "pq.ts": (PQ, "out.ts", {}),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_range_transfer_and_place_of_chroma_stay_as_an_outside_reader_sees_them(tmp_path: Path, name: str) -> None:
    coder, output, settings = DESCRIPTIONS[name]
    target = tmp_path / name
    ffmpeg(*source(seconds=0.4), *coder, target)
    rewrite(target, tmp_path / output, **settings)
    keys = ("pix_fmt", "color_range", "color_space", "color_primaries", "color_transfer", "chroma_location")
    before, after = ([streams(path, "v")[0].get(key) for key in keys] for path in (target, tmp_path / output))
    assert after == before
    assert before[-1] is not None


def side_data(path: Path) -> list[dict]:
    frame = ffprobe(path, "-select_streams", "v", "-read_intervals", "%+#1", "-show_frames")["frames"][0]
    kinds = ("Mastering display metadata", "Content light level metadata")
    return sorted((entry for entry in frame["side_data_list"] if entry["side_data_type"] in kinds), key=str)


@pytest.mark.parametrize("codec", ["hevc", "h264", "av1"])
def test_hdr_metadata_stays(tmp_path: Path, codec: str) -> None:
    target, output = tmp_path / "a.mp4", tmp_path / "out.mp4"
    ffmpeg(
        *source(),
        "-c:v",
        "libx265",
        "-preset",
        "ultrafast",
        "-pix_fmt",
        "yuv420p10le",
        "-color_trc",
        "smpte2084",
        "-color_primaries",
        "bt2020",
        "-colorspace",
        "bt2020nc",
        "-x265-params",
        "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400",
        target,
    )
    assert len(side_data(target)) == 2
    rewrite(target, output, codec=codec)
    assert VideoSource(output).info.hdr_metadata.light_level == (1000, 400)
    if codec == "h264":
        return  # This ffprobe does not read it from H.264.
    before, after = side_data(target), side_data(output)
    assert [entry["side_data_type"] for entry in after] == [entry["side_data_type"] for entry in before]
    for one, two in zip(before, after, strict=True):
        for key in one.keys() - {"side_data_type"}:
            # AV1 has its own fixed-point steps.
            assert float(Fraction(two[key])) == pytest.approx(float(Fraction(one[key])), rel=1e-3)


ODD = {
    "h264.mp4": ["-c:v", "libx264", "-pix_fmt", "yuv444p"],
    "hevc.mp4": ["-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv444p"],
    "vp9.webm": ["-c:v", "libvpx-vp9", "-cpu-used", "8", "-pix_fmt", "yuv420p"],
    "av1.mp4": ["-c:v", "libaom-av1", "-cpu-used", "8", "-pix_fmt", "yuv420p"],
    "mpeg4.mkv": ["-c:v", "mpeg4"],
    "prores.mov": ["-c:v", "prores_ks"],
    "ffv1.mkv": ["-c:v", "ffv1", "-pix_fmt", "yuv444p"],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_sizes_stay(tmp_path: Path, name: str) -> None:
    target, output = tmp_path / name, tmp_path / f"out{Path(name).suffix}"
    ffmpeg(*source("642x362", seconds=0.2), "-vf", "scale=641:361,setsar=1", *ODD[name], target)
    _, warnings = rewrite(target, output)
    assert warnings == []
    before, after = (streams(path, "v")[0] for path in (target, output))
    keys = ("width", "height", "pix_fmt", "codec_name")
    assert (
        [after[key] for key in keys]
        == [before[key] for key in keys]
        == [641, 361, before["pix_fmt"], name.split(".")[0]]
    )


def test_odd_size_in_another_codec_keeps_its_size(tmp_path: Path) -> None:
    target, output = tmp_path / "a.webm", tmp_path / "out.mp4"
    ffmpeg(*source("642x362", seconds=0.2), "-vf", "scale=641:361,setsar=1", *ODD["vp9.webm"], target)
    _, warnings = rewrite(target, output, codec="h264")
    after = streams(output, "v")[0]
    assert (after["width"], after["height"], after["pix_fmt"]) == (641, 361, "yuv444p")
    assert any("yuv444p" in warning for warning in warnings)


@pytest.mark.parametrize("pixels", ["yuv420p", "yuv420p10le", "yuv444p", "gray"])
def test_outside_an_edit_the_encoder_gets_what_the_decoder_gave(tmp_path: Path, pixels: str) -> None:
    target, output = tmp_path / "a.mkv", tmp_path / "out.mkv"
    ffmpeg(*source("160x90", seconds=0.4), "-c:v", "ffv1", "-level", "3", "-pix_fmt", pixels, target)
    rect = Rect(40, 20, 50, 40)

    def invert(frame) -> None:
        patch = frame.working(rect)
        frame.apply(rect, patch, 1 - patch)

    rewrite(target, output, edit=invert)
    for before, after in zip(VideoSource(target).frames(), VideoSource(output).frames(), strict=True):
        for one, two in zip(before._planes, after._planes, strict=True):
            changed = np.argwhere(one != two)
            scale = 160 // one.shape[1]
            assert len(changed) > 0
            assert changed.min(axis=0).tolist() >= [20 // scale, 40 // scale]
            assert (changed.max(axis=0) < [60 // scale, 90 // scale]).all()


def test_the_same_frames_make_the_same_packets(tmp_path: Path) -> None:
    video = VideoSource(clip(tmp_path / "a.mp4", seconds=3))
    encoding = choose_encoding(video.info, ".mp4")
    once = encode(video, encoding, tmp_path / "once")
    again = encode(video, encoding, tmp_path / "again")
    assert len(once) == 3
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]
    join(video, once, tmp_path / "once.mp4")
    join(video, [once[0], *again[1:]], tmp_path / "again.mp4")
    assert (tmp_path / "once.mp4").read_bytes() == (tmp_path / "again.mp4").read_bytes()


def test_a_segment_is_published_whole_or_not_at_all(tmp_path: Path) -> None:
    video = VideoSource(clip(tmp_path / "a.mp4"))
    encoding = choose_encoding(video.info, ".mp4")
    path = tmp_path / "0.seg"

    def fail() -> None:
        with SegmentWriter(path, video, encoding) as writer:
            for frame in video.frames():
                writer.write(frame)
                if frame.index == 5:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.mp4"]


def test_damaged_or_foreign_segments_are_recognised(tmp_path: Path) -> None:
    video = VideoSource(clip(tmp_path / "a.mp4"))
    encoding = choose_encoding(video.info, ".mp4")
    (path,) = encode(video, encoding, tmp_path / "parts")
    assert usable(path, encoding)
    assert not usable(path, choose_encoding(video.info, ".mp4", crf=30))
    assert not usable(tmp_path / "missing.seg", encoding)
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:-1], data[:4], b"", data[:2000] + b"x" + data[2001:], data + b"x"):
        path.write_bytes(damaged)
        assert not usable(path, encoding)
        with pytest.raises(UnreadableError, match="made again"):
            join(video, [path], tmp_path / "out.mp4")
    assert not list(tmp_path.glob("*out.mp4*"))


def test_segments_of_different_settings_are_not_joined(tmp_path: Path) -> None:
    video = VideoSource(clip(tmp_path / "a.mp4", seconds=3))
    one = encode(video, choose_encoding(video.info, ".mp4"), tmp_path / "one")
    two = encode(video, choose_encoding(video.info, ".mp4", crf=40), tmp_path / "two")
    with pytest.raises(UnreadableError, match="different settings"):
        join(video, [one[0], two[1], one[2]], tmp_path / "out.mp4")


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    video = VideoSource(clip(tmp_path / "a.mp4"))
    encoding = choose_encoding(video.info, ".mp4")
    parts = encode(video, encoding, tmp_path / "parts")
    with pytest.raises(UnwritableError, match="No such file"):
        join(video, parts, tmp_path / "none" / "out.mp4")
    with pytest.raises(UnwritableError, match="No such file"), SegmentWriter(tmp_path / "none" / "0", video, encoding):
        pass
    assert usable(parts[0], encoding)


_LIMITED = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from mien.errors import UnwritableError
from mien.media.segments import SegmentWriter, join
from mien.geometry import Rect
from mien.media.encoding import choose_encoding
from mien.media.video import VideoSource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
video = VideoSource(sys.argv[1])
folder = Path(sys.argv[2])
encoding = choose_encoding(video.info, ".mp4")
try:
    if sys.argv[5] == "join":
        join(video, sorted(folder.glob("parts/*")), folder / "out.mp4")
    else:
        with SegmentWriter(folder / "new.seg", video, encoding) as writer:
            for frame in video.frames():
                writer.write(frame)
except UnwritableError as error:
    print(error)
"""


@pytest.mark.parametrize("step", ["join", "write"])
def test_no_room_left_is_said_and_nothing_is_lost(tmp_path: Path, step: str) -> None:
    target = tmp_path / "a.mp4"
    ffmpeg(*source("320x180", seconds=3), *tone(3), *h264("-qp", "5"), target)
    video = VideoSource(target)
    encoding = choose_encoding(video.info, ".mp4")
    parts = encode(video, encoding, tmp_path / "parts")
    room = sum(path.stat().st_size for path in parts) // 2
    command = [sys.executable, "-c", _LIMITED, target, tmp_path, str(room), str(Path(__file__).parents[1]), step]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "cannot be written: File too large" in ended.stdout
    assert all(usable(path, encoding) for path in parts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mp4", "parts"]
