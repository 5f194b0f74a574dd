"""Kinds of files by their first bytes: those that real encoders write."""

from __future__ import annotations

import io
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from mien.service.sniff import HEAD_BYTES, file_type
from support.people import STILLS


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("JPEG", "image/jpeg"),
        ("PNG", "image/png"),
        ("GIF", "image/gif"),
        ("WEBP", "image/webp"),
        ("TIFF", "image/tiff"),
        ("BMP", "image/bmp"),
        ("AVIF", "image/avif"),
    ],
)
def test_pictures(name: str, media_type: str) -> None:
    data = io.BytesIO()
    Image.open(STILLS / "grace_hopper.jpg").resize((64, 64)).save(data, name)
    kind = file_type(data.getvalue()[:HEAD_BYTES])
    assert kind is not None
    assert kind.media_type == media_type


@pytest.mark.parametrize(
    ("container", "codec", "media_type"),
    [
        ("mp4", "mpeg4", "video/mp4"),
        ("mov", "mpeg4", "video/quicktime"),
        ("matroska", "mpeg4", "video/x-matroska"),
        ("webm", "libvpx", "video/webm"),
        ("avi", "mpeg4", "video/x-msvideo"),
        ("mpegts", "mpeg2video", "video/mp2t"),
        ("mpeg", "mpeg2video", "video/mpeg"),
        ("flv", "flv1", "video/x-flv"),
        ("asf", "mpeg4", "video/x-ms-wmv"),
    ],
)
def test_videos(container: str, codec: str, media_type: str, tmp_path: Path) -> None:
    path = tmp_path / "clip"
    with av.open(str(path), "w", format=container) as output:
        stream = output.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for _ in range(3):
            output.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), "rgb24")))
        output.mux(stream.encode())
    kind = file_type(path.read_bytes()[:HEAD_BYTES])
    assert kind is not None
    assert kind.media_type == media_type
