"""What any file says about itself in words: the XMP of pictures, the tags of videos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from mien.media.animation import AnimationSource
from mien.media.demux import open_video
from mien.media.metadata import Metadata
from mien.media.pictures import read_picture
from mien.media.probe import probe

USER_COMMENT = "UserComment"
_EXIF_DIRECTORY, _USER_COMMENT_TAG = 0x8769, 0x9286
_CHARSET_BYTES = 8
"""Name of the character set before the text (EXIF 2.3, 4.6.5)."""


@dataclass(frozen=True, slots=True)
class Description:
    """What a file says."""

    xmp: bytes | None
    tags: Mapping[str, str]
    """Texts by name: of a video's container, of a PNG, and EXIF's `UserComment`."""


def read_description(path: Path) -> Description:
    """What a picture, an animation or a video says.

    Raises:
        UnreadableError: missing, damaged, or none of these.
        UnsupportedMediaError: a picture that needs an extra.
    """
    kind = probe(path).kind
    if kind == "picture":
        return _of_metadata(read_picture(path).still.metadata)
    if kind == "animation":
        with AnimationSource(path) as animation:
            return _of_metadata(animation.info.metadata)
    with open_video(path) as container:
        return Description(None, dict(container.metadata))


def _of_metadata(metadata: Metadata) -> Description:
    tags = dict(metadata.texts)
    if metadata.exif and (comment := _user_comment(metadata.exif)):
        tags[USER_COMMENT] = comment
    return Description(metadata.xmp, tags)


def _user_comment(exif: bytes) -> str | None:
    read = Image.Exif()
    try:
        read.load(b"Exif\0\0" + exif)
        comment = read.get_ifd(_EXIF_DIRECTORY).get(_USER_COMMENT_TAG)
    except (SyntaxError, ValueError, KeyError, OSError, TypeError):
        return None  # Broken EXIF says nothing.
    if isinstance(comment, bytes):
        return comment[_CHARSET_BYTES:].decode("utf-8", "replace").strip("\0 ")
    return comment if isinstance(comment, str) else None
