"""What is encoded how, and what is refused before work starts."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from mien.errors import UnsupportedMediaError
from mien.media import encoders as module
from mien.media.colour import ColourTags
from mien.media.encoding import Encoding, choose_encoding
from mien.media.info import VideoInfo
from mien.media.video import VideoSource
from support.video import clip, ffmpeg, h264, rewrite, source, streams, times


@pytest.fixture(scope="module")
def info(tmp_path_factory: pytest.TempPathFactory) -> VideoInfo:
    return VideoSource(clip(tmp_path_factory.mktemp("clip") / "a.mp4", seconds=0.4)).info


@pytest.mark.parametrize(
    ("codec", "suffix", "encoder"),
    [
        ("h264", ".mp4", "libx264"),
        ("hevc", ".MKV", "libx265"),
        ("vp9", ".webm", "libvpx-vp9"),
        ("av1", ".mp4", "libsvtav1"),
        ("prores", ".mov", "prores_ks"),
        ("mpeg4", ".avi", "mpeg4"),
        ("ffv1", ".mkv", "ffv1"),
        ("mjpeg", ".avi", "mjpeg"),
    ],
)
def test_the_codec_of_the_target_is_kept(info: VideoInfo, codec: str, suffix: str, encoder: str) -> None:
    encoding = choose_encoding(replace(info, codec=codec), suffix)
    assert (encoding.codec, encoding.encoder) == (codec, encoder)
    assert encoding.b_frames == (suffix != ".avi")


@pytest.mark.parametrize(
    ("codec", "suffix", "instead"),
    [
        ("wmv3", ".mp4", "h264"),
        ("mpeg2video", ".ts", "h264"),
        ("h264", ".webm", "vp9"),
        ("prores", ".mp4", "h264"),
        ("vp8", ".mp4", "h264"),
    ],
)
def test_a_codec_that_cannot_be_kept_is_replaced_and_said(
    info: VideoInfo, codec: str, suffix: str, instead: str
) -> None:
    encoding = choose_encoding(replace(info, codec=codec), suffix)
    assert encoding.codec == instead
    assert any(codec in warning and instead in warning for warning in encoding.warnings)
    assert not any("installation" in warning for warning in encoding.warnings)


@pytest.mark.parametrize(
    ("suffix", "settings", "words"),
    [
        (".mp3", {}, "no video container"),
        ("", {}, "no video container"),
        (".mp4", {"codec": "nonsense"}, "no encoder for codec 'nonsense'"),
        (".webm", {"codec": "h264"}, "webm cannot hold h264"),
        (".mp4", {"codec": "prores"}, "does not work"),
        (".mp4", {"crf": 99}, "crf 99"),
        (".mp4", {"crf": -1}, "crf -1"),
        (".mp4", {"preset": "nonsense"}, "preset 'nonsense' is unknown"),
        (".mp4", {"codec": "hevc", "preset": "nonsense"}, "veryslow"),
        (".mp4", {"codec": "av1", "preset": "slow"}, "preset 'slow' is unknown for av1"),
        (".mov", {"codec": "prores", "crf": 10}, "fixed quality"),
        (".mp4", {"codec": "mpeg4", "preset": "slow"}, "no presets"),
    ],
)
def test_bad_settings_are_refused_before_work_starts(info: VideoInfo, suffix: str, settings: dict, words: str) -> None:
    with pytest.raises(UnsupportedMediaError, match=words):
        choose_encoding(info, suffix, **settings)


def test_crf_and_preset_reach_the_encoder(info: VideoInfo) -> None:
    assert dict(choose_encoding(info, ".mp4").options)["crf"] == "18"
    assert "preset" not in dict(choose_encoding(info, ".mp4").options)
    options = dict(choose_encoding(info, ".mp4", crf=30, preset="ultrafast").options)
    assert (options["crf"], options["preset"]) == ("30", "ultrafast")
    assert choose_encoding(info, ".mkv", codec="mpeg4", crf=0).quantiser == 1


def test_aliases(info: VideoInfo) -> None:
    for name in ("H265", "x265", "libx265", "hevc"):
        assert choose_encoding(info, ".mp4", codec=name).codec == "hevc"


@pytest.mark.parametrize(
    ("codec", "have", "kept", "get"),
    [
        ("h264", "yuv420p", "h264", "yuv420p"),
        ("h264", "yuvj420p", "h264", "yuvj420p"),
        ("h264", "yuv422p10le", "h264", "yuv422p10le"),
        ("h264", "gray", "h264", "gray"),
        ("h264", "gbrp", "h264", "bgr0"),
        ("hevc", "yuv420p12le", "hevc", "yuv420p12le"),
        ("hevc", "gbrp10le", "hevc", "gbrp10le"),
        ("vp9", "yuva420p", "vp9", "yuva420p"),
        ("prores", "yuv444p10le", "prores", "yuv444p10le"),
        ("ffv1", "yuv444p16le", "ffv1", "yuv444p16le"),
        ("ffv1", "rgb48le", "ffv1", "rgb48le"),
        # Another codec where depth or colour resolution would be lost.
        ("h264", "yuv420p12le", "hevc", "yuv420p12le"),
        ("vp9", "yuv420p10le", "hevc", "yuv420p10le"),
        ("av1", "yuv444p", "h264", "yuv444p"),
        # And the nearest where nothing else helps.
        ("h264", "yuva420p", "h264", "yuv420p"),
        ("h264", "yuv440p", "h264", "yuv444p"),
        ("h264", "yuv444p16le", "hevc", "yuv444p12le"),
    ],
)
def test_the_pixel_format_is_kept_or_what_changes_is_said(
    info: VideoInfo, codec: str, have: str, kept: str, get: str
) -> None:
    suffix = ".mov" if codec == "prores" else ".mkv"
    encoding = choose_encoding(replace(info, codec=codec, editing_format=have), suffix)
    assert (encoding.codec, encoding.pixel_format) == (kept, get)
    assert bool(encoding.warnings) == (kept != codec or (get != have and have != "gbrp"))


def test_ten_bits_stay_in_webm(info: VideoInfo) -> None:
    encoding = choose_encoding(replace(info, codec="vp9", editing_format="yuv420p10le"), ".webm")
    assert (encoding.codec, encoding.pixel_format) == ("av1", "yuv420p10le")


def test_a_codec_that_is_asked_for_is_used_and_its_loss_said(info: VideoInfo) -> None:
    encoding = choose_encoding(replace(info, editing_format="yuv444p"), ".mp4", codec="av1")
    assert encoding.pixel_format == "yuv420p"
    assert any("yuv420p" in warning for warning in encoding.warnings)


def test_full_range_formats_say_so(info: VideoInfo) -> None:
    assert choose_encoding(replace(info, editing_format="yuvj420p"), ".mp4").tags.range == 2


def test_encodings_survive_as_plain_data(info: VideoInfo) -> None:
    encoding = choose_encoding(
        replace(info, display_matrix=tuple(range(9)), tags=ColourTags(1, 9, 9, 16), codec="hevc"), ".mp4"
    )
    again = Encoding.from_mapping(json.loads(json.dumps(encoding.to_mapping())))
    assert again == encoding
    assert repr(again) == repr(encoding)


def test_mpeg4_counts_frames_where_its_clock_is_too_coarse(tmp_path: Path) -> None:
    target, output = tmp_path / "a.mp4", tmp_path / "out.mp4"
    uneven = "settb=1/90000,setpts=N*3003+mod(N\\,7)"
    clock = ["-vsync", "passthrough", "-enc_time_base", "1/90000", "-video_track_timescale", "90000"]
    ffmpeg(*source(rate="30"), "-vf", uneven, *clock, *h264(), target)
    encoding, _ = rewrite(target, output, codec="mpeg4")
    assert encoding.counted
    assert times(output) == pytest.approx(times(target), abs=1e-6)


def test_x264_avoids_what_makes_its_packets_random(monkeypatch: pytest.MonkeyPatch, info: VideoInfo) -> None:
    monkeypatch.setattr(module.cv2, "getCPUFeaturesLine", lambda: "SSE *AVX2 *AVX512-SKX")
    assert "asm=" in dict(choose_encoding(info, ".mp4").options)["x264-params"]
    assert "x264-params" not in dict(choose_encoding(replace(info, stored_width=1920), ".mp4").options)
    for features in ("SSE *AVX2", "SSE *AVX2 *AVX512-SKX?"):
        monkeypatch.setattr(module.cv2, "getCPUFeaturesLine", lambda features=features: features)
        assert "x264-params" not in dict(choose_encoding(info, ".mp4").options)


def test_pixels_that_are_not_square(tmp_path: Path) -> None:
    target = clip(tmp_path / "a.mp4", "-vf", "setsar=4/3", *h264(), seconds=0.4)
    for name, codec, warned in (("b.mp4", "auto", False), ("c.mov", "prores", False), ("d.webm", "vp9", True)):
        _, warnings = rewrite(target, tmp_path / name, codec=codec)
        assert any("shown square" in warning for warning in warnings) == warned
        if not warned:
            assert streams(tmp_path / name, "v")[0]["sample_aspect_ratio"] == "4:3"


@pytest.mark.parametrize("size", ["192x108", "1280x720"])
def test_rgb_in_a_codec_without_it_keeps_its_colours(tmp_path: Path, size: str) -> None:
    target, output = tmp_path / "a.mov", tmp_path / "out.mp4"
    ffmpeg("-f", "lavfi", "-i", f"color=0xC05030:s={size}:r=25:d=0.12", "-c:v", "qtrle", target)
    encoding, _ = rewrite(target, output, codec="av1", preset="10")
    assert encoding.tags.matrix == (6 if size == "192x108" else 1)
    assert next(VideoSource(output).frames()).display()[50, 50] == pytest.approx((0xC0, 0x50, 0x30), abs=4)
    shown = tmp_path / "shown.png"
    ffmpeg("-i", output, "-frames:v", "1", shown)  # An outside judge.
    assert next(VideoSource(clip_of(shown)).frames()).display()[50, 50] == pytest.approx((0xC0, 0x50, 0x30), abs=4)


def clip_of(picture: Path) -> Path:
    path = picture.with_suffix(".mov")
    ffmpeg("-i", picture, "-c:v", "qtrle", path)
    return path


def test_interlaced_video_stays_so(tmp_path: Path) -> None:
    target = clip(tmp_path / "a.mp4", *h264("-flags", "+ildct+ilme", "-x264opts", "tff=1"), seconds=0.4)
    encoding, _ = rewrite(target, tmp_path / "out.mp4")
    assert encoding.interlaced
    assert streams(tmp_path / "out.mp4", "v")[0]["field_order"] == streams(target, "v")[0]["field_order"]
    assert VideoSource(tmp_path / "out.mp4").info.interlaced


def test_frame_rates(info: VideoInfo) -> None:
    assert info.frame_rate == 25
    assert info.tick == Fraction(1, 25)
