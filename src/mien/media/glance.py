"""The first picture of a segment whose packets are complete."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import av
from av.error import FFmpegError
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream
from PIL import Image

from mien.errors import UnreadableError
from mien.media.packets import PacketLog

_DECODERS = {"av1": "libdav1d"}
"""By codec, where FFmpeg's own decoder of that name needs special hardware."""


def first_picture(packets: str | Path) -> Image.Image:
    """The first picture, as it is stored.

    Raises:
        UnreadableError: the packets cannot be decoded.
    """
    with PacketLog(Path(packets)) as log:
        codec = log.encoding.codec
        try:
            decoder = cast(VideoCodecContext, VideoCodecContext.create(_DECODERS.get(codec, codec), "r"))
            decoder.extradata = log.extradata
            for logged in log.packets():
                for picture in decoder.decode(cast("av.Packet[VideoStream]", av.Packet(logged.data))):
                    return picture.to_image()
            for picture in decoder.decode(None):
                return picture.to_image()
        except FFmpegError as error:
            raise UnreadableError(f"the packets {packets} cannot be decoded: {error.strerror}") from error
    raise UnreadableError(f"the packets {packets} hold no picture")
