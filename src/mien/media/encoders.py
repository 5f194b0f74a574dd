"""The encoders of this installation: what is visually lossless for each, and how each wants to be told things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import cv2

from mien.errors import UnsupportedMediaError
from mien.media.colour import RANGE_LIMITED, TRANSFER_PQ, ColourTags
from mien.media.info import VideoInfo

CONTAINERS = {
    ".mp4": "mp4",
    ".m4v": "mp4",
    ".mov": "mov",
    ".mkv": "matroska",
    ".webm": "webm",
    ".avi": "avi",
    ".ts": "mpegts",
}
"""Muxer by file name suffix."""


@dataclass(frozen=True, slots=True)
class Quality:
    """How an encoder is asked for constant quality, and what is visually lossless for it."""

    option: str | None
    """Name of its option; `qscale` = the quantiser of MPEG-4 and Motion JPEG; None = it is lossless or fixed."""
    default: int = 0
    worst: int = 0
    preset: str | None = None
    """Name of its speed option."""
    presets: tuple[str, ...] = ()
    """Its values, slow ones first or last as the encoder has them."""
    fixed: tuple[tuple[str, str], ...] = ()
    """Further options."""
    without_preset: tuple[tuple[str, str], ...] = ()
    """Options where no preset is asked for and the encoder's own default is not fit for use."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder of this installation."""

    name: str
    codec: str
    quality: Quality


_X26X_PRESETS = (
    *("ultrafast", "superfast", "veryfast", "faster", "fast", "medium"),
    *("slow", "slower", "veryslow", "placebo"),
)
_VPX_SPEEDS = tuple(str(speed) for speed in range(9))
_SVT_PRESETS = tuple(str(preset) for preset in range(-1, 14))
# x264 looks 40 frames ahead by itself, each of 7 MB at 1080p; 10 give no more bits at the same quality setting.
_LEAN_X264 = (("rc-lookahead", "10"),)

ENCODERS = (
    Encoder("libx264", "h264", Quality("crf", 18, 51, "preset", _X26X_PRESETS, without_preset=_LEAN_X264)),
    Encoder("libx264rgb", "h264", Quality("crf", 18, 51, "preset", _X26X_PRESETS, without_preset=_LEAN_X264)),
    Encoder("libx265", "hevc", Quality("crf", 20, 51, "preset", _X26X_PRESETS)),
    # libvpx's own default speed (1) is several times slower than the other encoders' defaults.
    Encoder("libvpx-vp9", "vp9", Quality("crf", 20, 63, "cpu-used", _VPX_SPEEDS, (("b", "0"),), (("cpu-used", "4"),))),
    Encoder("libsvtav1", "av1", Quality("crf", 22, 63, "preset", _SVT_PRESETS)),
    Encoder("prores_ks", "prores", Quality(None, fixed=(("vendor", "apl0"),))),
    Encoder("mpeg4", "mpeg4", Quality("qscale", 2, 31)),
    Encoder("ffv1", "ffv1", Quality(None, fixed=(("level", "3"), ("slices", "4"), ("slicecrc", "1")))),
    Encoder("libvpx", "vp8", Quality("crf", 8, 63, "cpu-used", _VPX_SPEEDS, (("b", "60M"),), (("cpu-used", "2"),))),
    # Limited range in JPEG is not in its standard, though widely read.
    Encoder("mjpeg", "mjpeg", Quality("qscale", 2, 31, fixed=(("strict", "unofficial"),))),
)
"""Every encoder that can be chosen, the preferred one of a codec first."""

ALIASES = {"h265": "hevc", "x264": "h264", "avc": "h264", "x265": "hevc", "mpeg-4": "mpeg4"}
"""Other names of codecs."""
LAMBDA = 118
"""Steps of the quality scale per quantiser (FF_QP2LAMBDA)."""


def encoder_options(
    encoder: Encoder, info: VideoInfo, crf: int | None, preset: str | None
) -> tuple[tuple[str, str], ...]:
    """Options for FFmpeg, sorted by name.

    Raises:
        UnsupportedMediaError: `crf` is out of range, or the encoder has no such setting.
    """
    quality = encoder.quality
    options = dict(quality.fixed)
    _check_crf(encoder, crf)
    if quality.option == "crf":
        options["crf"] = str(quality.default if crf is None else crf)
    if preset is not None and quality.preset is None:
        raise UnsupportedMediaError(f"{encoder.codec} has no presets: leave 'preset' out")
    if preset is not None and preset not in quality.presets:
        raise UnsupportedMediaError(
            f"preset '{preset}' is unknown for {encoder.codec}: use {', '.join(quality.presets)}"
        )
    options |= {quality.preset: preset} if quality.preset and preset else dict(quality.without_preset)
    if encoder.name == "prores_ks" and info.profile in _PRORES_PROFILES:
        options["profile"] = _PRORES_PROFILES[info.profile]
    options |= _encoder_parameters(encoder.name, info)
    return tuple(sorted(options.items()))


_PRORES_PROFILES = {"Proxy": "0", "LT": "1", "Standard": "2", "HQ": "3", "4444": "4", "XQ": "5"}


def quantiser(encoder: Encoder, crf: int | None) -> int | None:
    """Fixed quantiser of an encoder without a quality option; None for the others."""
    if encoder.quality.option != "qscale":
        return None
    return encoder.quality.default if crf is None else max(crf, 1)


def _check_crf(encoder: Encoder, crf: int | None) -> None:
    if crf is None:
        return
    if encoder.quality.option is None:
        raise UnsupportedMediaError(f"{encoder.codec} has a fixed quality: leave 'crf' out")
    if not 0 <= crf <= encoder.quality.worst:
        raise UnsupportedMediaError(
            f"crf {crf} is out of range for {encoder.codec}: give 0 (best) to {encoder.quality.worst}"
        )


def _encoder_parameters(encoder: str, info: VideoInfo) -> dict[str, str]:
    """What is said in each encoder's own words: static HDR metadata above all."""
    mastering, light = info.hdr_metadata.mastering, info.hdr_metadata.light_level
    words: list[str] = []
    if encoder == "libsvtav1":
        words += [f"mastering-display={_mastering_in_units(mastering)}"] if mastering else []
        words += [f"content-light={light[0]},{light[1]}"] if light else []
        return {"svtav1-params": ":".join(words)} if words else {}
    if encoder == "libx265":
        words += ["log-level=none"]
        words += [f"master-display={_mastering_in_steps(mastering)}"] if mastering else []
        words += [f"max-cll={light[0]},{light[1]}"] if light else []
        words += ["hdr10-opt=1"] if info.tags.transfer == TRANSFER_PQ else []
        return {"x265-params": ":".join(words)}
    if encoder in ("libx264", "libx264rgb"):
        words += [f"mastering-display={_mastering_in_steps(mastering)}"] if mastering else []
        words += [f"cll={light[0]},{light[1]}"] if light else []
        words += [_LIMITED_RANGE] if info.tags == ColourTags(range=RANGE_LIMITED, chroma=info.tags.chroma) else []
        words += [_X264_UP_TO_AVX2] if _mbtree_overreads(info.stored_width) else []
        return {"x264-params": ":".join(words)} if words else {}
    return {}


_LIMITED_RANGE = "videoformat=component"
"""x264 leaves out that the range is limited, which is what H.264 means without it, unless something else is said."""
_X264_UP_TO_AVX2 = "asm=MMX2,SSE2Fast,SSSE3,SSE4.2,LZCNT,AVX,FMA3,BMI2,AVX2"


def _mbtree_overreads(width: int) -> bool:
    """True where x264's rate control would depend on memory nobody has written, so that no two runs are equal.

    Measured with x264 r3223 (core 165): its AVX-512 code for the macroblock tree does so wherever a row is no multiple
    of 8 macroblocks; without the tree, without AVX-512, or at such widths packets are the same in every run.
    """
    return -(-width // 16) % 8 != 0 and bool(re.search(r"AVX512-SKX(?!\?)", cv2.getCPUFeaturesLine()))


def _mastering_in_steps(mastering: Sequence[tuple[int, int]]) -> str:
    """As integers: chromaticities in steps of 0.00002, luminances in steps of 0.0001 cd/m2."""
    steps = [round(Fraction(*value) * (50000 if at < 8 else 10000)) for at, value in enumerate(mastering)]
    return _mastering_text([str(step) for step in steps])


def _mastering_in_units(mastering: Sequence[tuple[int, int]]) -> str:
    return _mastering_text([f"{float(Fraction(*value)):.5f}" for value in mastering])


def _mastering_text(values: Sequence[str]) -> str:
    rx, ry, gx, gy, bx, by, wx, wy, darkest, brightest = values
    return f"G({gx},{gy})B({bx},{by})R({rx},{ry})WP({wx},{wy})L({brightest},{darkest})"
