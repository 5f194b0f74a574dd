"""Damage that a picture's decoder passes over in silence: what it makes of it is shown, as any viewer would.

Pillow hides what libjpeg warns of, and libtiff does not look at a stream's check sum once it has all rows. WebP, AVIF
and raw samples have nothing by which damage could be told, where it does not stop the decoder.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import av
from av.error import FFmpegError, InvalidDataError

DAMAGED = "the picture is damaged: part of it shows something else, as in any viewer; fetch the file again if you can"


def is_jpeg_damaged(data: bytes) -> bool:
    """Whether the first picture of a JPEG file has codes that cannot be, or too few of them.

    FFmpeg's decoder says so where it is told to. A few wrong bytes may still be right codes, which nothing can tell.
    """
    decoder = av.CodecContext.create("mjpeg", "r")
    # Small pictures (an eighth of each side) take a third of the time; the codes are read all the same.
    decoder.options = {"err_detect": "explode", "lowres": "3"}
    try:
        pictures = [*decoder.decode(av.Packet(data)), *decoder.decode(None)]
    except InvalidDataError:
        return True
    except FFmpegError:
        return False  # A kind of JPEG that it does not know.
    return any(picture.is_corrupt for picture in pictures)


def is_deflate_damaged(streams: Iterable[bytes]) -> bool:
    """Whether one of a TIFF's zlib streams does not hold what was put in."""
    try:
        for stream in streams:
            zlib.decompressobj().decompress(stream)
    except zlib.error:
        return True
    return False
