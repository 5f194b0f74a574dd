"""What a file is, by its content and never by its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import av
from av.error import FFmpegError
from PIL import Image

from mien.errors import UnreadableError
from mien.media.arrays import UPRIGHT
from mien.media.files import read_head
from mien.media.metadata import Metadata
from mien.media.pictures import read_picture
from mien.media.profiles import describe
from mien.media.stills.formats import HEAD_SIZE, format_of_content, is_gif
from mien.media.stills.still import mode_of, reading

_ORIENTATION = 0x0112
"""EXIF tag."""

Kind = Literal["picture", "animation", "video"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A file that mien can work on."""

    kind: Kind
    format: str
    """`JPEG`, `PNG`, `GIF`, ...; for a video its container's name."""
    width: int
    """Columns, seen upright (of a video as stored: rotation is said with its frames)."""
    height: int
    """Rows, likewise."""
    mode: str | None = None
    """Pillow's name of a picture's channels: `RGB`, `RGBA`, `L`, `P`, `CMYK`, ..."""
    profile: str | None = None
    """The name a picture's colour profile gives itself."""
    turned: bool = False
    """Whether an orientation tag turns or mirrors the stored picture."""


def probe(path: str | Path) -> Probe:
    """Tell pictures, animations and videos apart by their headers.

    Raises:
        UnreadableError: missing, a directory, empty, damaged, or none of the three.
        UnsupportedMediaError: a picture that needs an extra.
    """
    head = read_head(path, HEAD_SIZE)
    name = "GIF" if is_gif(head) else format_of_content(head)
    if name is None:
        return _probe_video(path)
    if name == "HEIC":
        return _probe_heic(path)
    with reading(path):
        return _probe_picture(path, name)


def _probe_picture(path: str | Path, name: str) -> Probe:
    with Image.open(path) as image:
        metadata = Metadata.of(image.info)
        animated = name == "GIF" or (name in ("PNG", "WEBP") and getattr(image, "n_frames", 1) > 1)
        turned = metadata.orientation != UPRIGHT
        width, height = metadata.orientation.size(*image.size)
        if name == "TIFF":  # whose size Pillow gives upright
            turned = image.getexif().get(_ORIENTATION, 1) != 1
        return Probe(
            kind="animation" if animated else "picture",
            format=name,
            width=width,
            height=height,
            mode=image.mode,
            profile=describe(metadata.icc) if metadata.icc else None,
            turned=turned,
        )


def _probe_heic(path: str | Path) -> Probe:
    # Its library reads headers only together with the rest.
    picture = read_picture(path)
    metadata = picture.still.metadata
    return Probe(
        kind="picture",
        format="HEIC",
        width=picture.width,
        height=picture.height,
        mode=mode_of(picture.still),
        profile=describe(metadata.icc) if metadata.icc else None,
        turned=metadata.orientation != UPRIGHT,
    )


def _probe_video(path: str | Path) -> Probe:
    streams, reason = 0, ""
    try:
        with av.open(str(path)) as container:
            streams = len(container.streams)
            # Demuxers of text and of single pictures take almost anything.
            name = container.format.name
            if container.streams.video and not name.endswith("_pipe") and name not in ("tty", "image2"):
                stream = container.streams.video[0]
                return Probe(kind="video", format=name, width=stream.width, height=stream.height)
    except FFmpegError as error:
        reason = f" that can be read: {error.strerror}"
    if not streams and _is_mp4(path):
        raise UnreadableError(
            f"{path} is an MP4 or MOV file without its table of contents, which is usually written last: the "
            "recording, copy or download ended too early, fetch it again"
        )
    raise UnreadableError(f"{path} is neither a picture nor a video{reason}")


def _is_mp4(path: str | Path) -> bool:
    """By the box that such files begin with (ISO/IEC 14496-12, 4.3)."""
    return read_head(path, 8)[4:] == b"ftyp"
