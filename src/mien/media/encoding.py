"""How a video is encoded: in the target's own codec and format where that is possible."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any, cast

import av
from av.codec import Codec
from av.codec.codec import UnknownCodecError
from av.codec.context import Flags
from av.container import OutputContainer
from av.error import FFmpegError
from av.video.codeccontext import VideoCodecContext

from mien.errors import UnsupportedMediaError
from mien.media.colour import MATRIX_BT601, MATRIX_BT709, RANGE_FULL, RANGE_LIMITED, ColourTags
from mien.media.encoders import ALIASES, CONTAINERS, ENCODERS, LAMBDA, Encoder, encoder_options, quantiser
from mien.media.info import VideoInfo
from mien.media.orientation import Orientation
from mien.media.planes import PixelLayout

_FRACTIONS = ("time_base", "stream_base", "tick", "frame_rate", "sample_aspect_ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Everything an encoder is told. Equal encodings make equal packets of equal frames."""

    encoder: str
    codec: str
    container: str
    width: int
    height: int
    pixel_format: str
    time_base: Fraction
    """Of the source's time stamps."""
    stream_base: Fraction
    """Of the output's video stream."""
    tick: Fraction
    """Of the encoder; `counted` encoders see frame numbers in it."""
    counted: bool
    frame_rate: Fraction
    tags: ColourTags
    sample_aspect_ratio: Fraction
    interlaced: bool
    field_order: int
    options: tuple[tuple[str, str], ...]
    quantiser: int | None
    """For encoders without a quality option."""
    b_frames: bool
    codec_tag: str | None
    global_header: bool
    """Parameter sets go to the container's header instead of the stream."""
    display_matrix: tuple[int, ...] | None
    warnings: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def to_mapping(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = asdict(self)
        for name in _FRACTIONS:
            plain[name] = str(plain[name])
        return plain

    @classmethod
    def from_mapping(cls, plain: Mapping[str, Any]) -> Encoding:
        """Inverse of `to_mapping`."""
        fields = dict(plain)
        for name in _FRACTIONS:
            fields[name] = Fraction(fields[name])
        fields["tags"] = ColourTags(**fields["tags"])
        fields["options"] = tuple((key, value) for key, value in fields["options"])
        fields["warnings"] = tuple(fields["warnings"])
        if fields["display_matrix"] is not None:
            fields["display_matrix"] = tuple(fields["display_matrix"])
        return cls(**fields)


def choose_encoding(
    info: VideoInfo, suffix: str, *, codec: str = "auto", crf: int | None = None, preset: str | None = None
) -> Encoding:
    """Settings for a video like `info` in a file named `suffix` (`.mp4`, ...), tried by opening the encoder.

    `auto` keeps the target's codec where there is an encoder for it, the container takes it, and depth and colour
    resolution can stay; else VP9 or AV1 for WebM and H.264 or HEVC for the rest, which `Encoding.warnings` says.
    `crf` None is visually lossless.

    Raises:
        UnsupportedMediaError: unknown container or codec, a pairing that does not work, or bad settings.
    """
    container = CONTAINERS.get(suffix.lower())
    if container is None:
        raise UnsupportedMediaError(
            f"'{suffix}' is no video container that can be written: use {', '.join(sorted(CONTAINERS))}"
        )
    if codec == "auto":
        return _choose_automatically(info, container, crf, preset)
    name = ALIASES.get(codec.lower(), codec.lower())
    encoders = [encoder for encoder in ENCODERS if name in (encoder.codec, encoder.name)]
    if not encoders:
        known = sorted({encoder.codec for encoder in ENCODERS})
        raise UnsupportedMediaError(f"no encoder for codec '{codec}': use auto, {', '.join(known)}")
    choice = _best(encoders, info, container, crf, preset)
    if isinstance(choice, str):
        raise UnsupportedMediaError(f"codec {codec} in {suffix} does not work: {choice}")
    return choice.encoding


_VISIBLE_LOSS = 50
"""Losses of a pixel format (see `_loss`) from which on another codec is better: depth, colour resolution, family."""


@dataclass(frozen=True, slots=True)
class _Choice:
    encoding: Encoding
    loss: int


def _choose_automatically(info: VideoInfo, container: str, crf: int | None, preset: str | None) -> Encoding:
    problems: list[str] = []
    choices: list[_Choice] = []
    for codec in dict.fromkeys((info.codec, *_fallbacks(info, container))):
        choice = _best([encoder for encoder in ENCODERS if encoder.codec == codec], info, container, crf, preset)
        if isinstance(choice, _Choice):
            choices.append(choice)
            if choice.loss < _VISIBLE_LOSS:
                break
            problems.append(f"{codec} cannot hold {info.editing_format}")
        else:
            problems.append(choice)
    if not choices:
        raise UnsupportedMediaError(f"a video like the target cannot be written as {container}: {'; '.join(problems)}")
    encoding = min(choices, key=lambda choice: choice.loss).encoding
    if encoding.codec == info.codec:
        return encoding
    note = f"the target's codec {info.codec} is replaced by {encoding.codec}: {problems[0]}"
    return replace(encoding, warnings=(note, *encoding.warnings))


def _fallbacks(info: VideoInfo, container: str) -> tuple[str, str]:
    """Codecs for what the target's own cannot do: those that players know best."""
    if container == "webm":
        return "vp9", "av1"
    layout = PixelLayout.named(info.editing_format)
    return ("hevc", "h264") if layout and layout.bits > 8 else ("h264", "hevc")


def _best(
    encoders: Sequence[Encoder], info: VideoInfo, container: str, crf: int | None, preset: str | None
) -> _Choice | str:
    """The encoder that keeps most of the pixel format, opened for a try; or why there is none."""
    if not encoders:
        return "mien does not write it"
    problem = ""
    formats = [(*_closest_format(info, encoder), encoder) for encoder in encoders if _exists(encoder.name)]
    for loss, pixel_format, encoder in sorted(formats, key=lambda entry: entry[0]):
        encoding = _encoding(encoder, info, container, pixel_format, crf, preset)
        if (trouble := _try(encoding)) is None:
            notes = _format_warnings(info, loss, pixel_format, encoder, container)
            return _Choice(replace(encoding, warnings=notes), loss)
        problem = problem or trouble
    return problem or "this installation has no encoder for it"


def _encoding(
    encoder: Encoder, info: VideoInfo, container: str, pixel_format: str, crf: int | None, preset: str | None
) -> Encoding:
    counted = encoder.codec == "mpeg4" and info.tick.denominator > 65535
    return Encoding(
        encoder=encoder.name,
        codec=encoder.codec,
        container=container,
        width=info.stored_width,
        height=info.stored_height,
        pixel_format=pixel_format,
        time_base=info.time_base,
        stream_base=_stream_base(info, container),
        tick=1 / info.frame_rate.limit_denominator(1001) if counted else info.tick,
        counted=counted,
        frame_rate=info.frame_rate,
        tags=_tags(info, pixel_format),
        sample_aspect_ratio=info.sample_aspect_ratio,
        interlaced=info.interlaced and encoder.codec in ("h264", "mpeg4", "prores"),
        field_order=info.field_order,
        options=encoder_options(encoder, info, crf, preset),
        quantiser=quantiser(encoder, crf),
        # AVI has no presentation times: what is stored in another order would be shown so.
        b_frames=container != "avi",
        codec_tag="hvc1" if encoder.codec == "hevc" and container in ("mp4", "mov") else None,
        global_header=container not in ("avi", "mpegts"),
        display_matrix=info.display_matrix,
    )


def _stream_base(info: VideoInfo, container: str) -> Fraction:
    """AVI shows a frame every tick of its clock, so that a clock finer than the frame rate would fill it with gaps."""
    if container != "avi":
        return info.time_base
    return 1 / info.frame_rate if info.steady else info.tick


def _tags(info: VideoInfo, pixel_format: str) -> ColourTags:
    tags = info.tags
    source = cast(PixelLayout, PixelLayout.named(info.editing_format))
    coded = PixelLayout.named(pixel_format)
    if source.full and source.family == "yuv":
        tags = replace(tags, range=RANGE_FULL)
    if source.family == "rgb" and coded and coded.family != "rgb":
        return replace(tags, matrix=MATRIX_BT601 if info.stored_height < 576 else MATRIX_BT709, range=RANGE_LIMITED)
    return tags


def _closest_format(info: VideoInfo, encoder: Encoder) -> tuple[int, str]:
    """The encoder's pixel format that keeps most of the source's; the number says how much is lost (below 10: none)."""
    formats = [video_format.name for video_format in Codec(encoder.name, "w").video_formats or []]
    if encoder.codec in ("h264", "hevc", "ffv1"):
        formats = [name for name in formats if _holds_size(name, info)]
    return min((_loss(info.editing_format, name), name) for name in formats) if formats else (1000, "yuv420p")


def _holds_size(pixel_format: str, info: VideoInfo) -> bool:
    """H.264 and HEVC count a picture's size in whole chroma samples, and FFmpeg's FFV1 wants them whole."""
    layout = PixelLayout.named(pixel_format)
    return layout is not None and not (
        info.stored_width % (1 << layout.shift_x) or info.stored_height % (1 << layout.shift_y)
    )


def _loss(source: str, coded: str) -> int:
    if source == coded:
        return 0
    have, get = PixelLayout.named(source), PixelLayout.named(coded)
    if have is None or get is None:
        return 1000
    loss = 1
    loss += 400 * (have.family != get.family and not (have.family == "grey" and get.family == "yuv"))
    loss += 100 * max(have.bits - get.bits, 0)
    loss += 50 * (max(get.shift_x - have.shift_x, 0) + max(get.shift_y - have.shift_y, 0))
    loss += 20 * (_has_alpha(source) and not _has_alpha(coded))
    loss += max(get.bits - have.bits, 0) // 2 + max(have.shift_x - get.shift_x, 0) + max(have.shift_y - get.shift_y, 0)
    return loss + (_has_alpha(coded) and not _has_alpha(source)) + (have.full != get.full)


def _has_alpha(pixel_format: str) -> bool:
    return "a" in pixel_format.removeprefix("gray")


_SQUARE = {"vp8", "vp9", "av1", "prores", "ffv1"}
"""Codecs that do not carry the shape of a pixel themselves, where FFmpeg's Matroska muxer is not told of it."""


_UNTURNED = {"avi", "mpegts"}
"""Containers without a display matrix."""


def _format_warnings(
    info: VideoInfo, loss: int, pixel_format: str, encoder: Encoder, container: str
) -> tuple[str, ...]:
    source = cast(PixelLayout, PixelLayout.named(info.editing_format))
    coded = cast(PixelLayout, PixelLayout.named(pixel_format))
    notes: list[str] = []
    if loss >= 10 or (source.shift_x, source.shift_y) != (coded.shift_x, coded.shift_y):
        notes.append(f"{encoder.codec} cannot hold {info.editing_format} at this size: {pixel_format} is written")
    if info.sample_aspect_ratio not in (0, 1) and container in ("matroska", "webm") and encoder.codec in _SQUARE:
        notes.append(
            f"pixels of {info.sample_aspect_ratio} cannot be noted for {encoder.codec} in {container}: they will be"
            " shown square"
        )
    if info.orientation != Orientation() and container in _UNTURNED:
        notes.append(f"{container} cannot note that the picture is turned by {info.rotation} degrees: it will lie so")
    if container == "avi" and not info.steady:
        notes.append("avi knows no variable frame rate: frames are repeated to keep their times")
    if (info.hdr_metadata.mastering or info.hdr_metadata.light_level) and encoder.codec not in ("h264", "hevc", "av1"):
        notes.append(f"{encoder.codec} cannot carry the mastering display and light level of HDR: they are left out")
    if info.interlaced and encoder.codec not in ("h264", "mpeg4", "prores"):
        notes.append(f"{encoder.codec} is written as progressive frames: that the video is interlaced is not noted")
    return tuple(notes)


def _exists(encoder: str) -> bool:
    try:
        Codec(encoder, "w")
    except UnknownCodecError:
        return False
    return True


def configure(context: VideoCodecContext, encoding: Encoding) -> None:
    """Set up an encoder that is not open yet."""
    context.width, context.height = encoding.width, encoding.height
    context.pix_fmt = encoding.pixel_format
    context.time_base = encoding.tick
    context.framerate = encoding.frame_rate
    context.color_range = encoding.tags.range
    context.colorspace = encoding.tags.matrix
    context.color_primaries = encoding.tags.primaries
    context.color_trc = encoding.tags.transfer
    if encoding.sample_aspect_ratio:
        context.sample_aspect_ratio = encoding.sample_aspect_ratio
    # Slices alone would make x264 split every frame: worse pictures and slower.
    context.thread_type = "AUTO"
    context.field_order = encoding.field_order
    flags = context.flags
    if encoding.global_header:
        flags |= Flags.global_header
    if encoding.interlaced:
        flags |= Flags.interlaced_dct | Flags.interlaced_me
    if encoding.quantiser is not None:
        flags |= Flags.qscale
        context.global_quality = encoding.quantiser * LAMBDA
    context.flags = flags
    if not encoding.b_frames:
        context.max_b_frames = 0
    if encoding.codec_tag:
        context.codec_tag = encoding.codec_tag
    context.options = dict(encoding.options)
    if encoding.tags.chroma:
        context.options["chroma_sample_location"] = encoding.tags.chroma
    if encoding.encoder == "libsvtav1":
        # The library prints to the terminal unless told otherwise here; it has no option for it.
        os.environ.setdefault("SVT_LOG", "1")


def open_encoder(encoding: Encoding) -> VideoCodecContext:
    """An open encoder.

    Raises:
        FFmpegError: the encoder refuses the settings.
    """
    context = cast(VideoCodecContext, av.CodecContext.create(encoding.encoder, "w"))
    configure(context, encoding)
    context.open()
    return context


def add_video_stream(container: OutputContainer, encoding: Encoding) -> av.VideoStream:
    """Add the video stream to an output; its encoder opens with the header, for the header's sake only."""
    stream = cast(av.VideoStream, container.add_stream(encoding.encoder, encoding.frame_rate))
    configure(stream.codec_context, encoding)
    stream.time_base = encoding.stream_base
    if encoding.display_matrix and encoding.container not in _UNTURNED:
        stream.set_display_matrix(encoding.display_matrix)
    return stream


def _try(encoding: Encoding) -> str | None:
    """Open the encoder and write a container's header in memory; the reason if that does not work."""
    try:
        container = av.open(io.BytesIO(), "w", format=encoding.container)
        stream = add_video_stream(container, encoding)
        container.start_encoding()
    except ValueError as error:
        if isinstance(error, FFmpegError):
            return _refusal(encoding, error)
        return f"{encoding.container} cannot hold {encoding.codec}"
    except FFmpegError as error:
        return _refusal(encoding, error)
    unused = set(stream.codec_context.options) & {name for name, _ in encoding.options}
    return f"{encoding.encoder} does not know {', '.join(sorted(unused))}" if unused else None


def _refusal(encoding: Encoding, error: FFmpegError) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in encoding.options)
    return (
        f"{encoding.encoder} refuses {encoding.width}x{encoding.height} {encoding.pixel_format} with {settings}"
        f" ({error.strerror})"
    )
