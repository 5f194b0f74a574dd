"""Files are told apart by what they hold."""

from __future__ import annotations

import os
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from mien.errors import UnreadableError
from mien.media.pictures import read_rgb
from mien.media.probe import probe
from support import pictures as support

WIDTH, HEIGHT = support.WIDTH, support.HEIGHT


def _video(path: Path, container: str, codec: str) -> None:
    with av.open(str(path), "w", format=container) as output:
        stream = output.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for level in (200, 100, 50):
            picture = av.VideoFrame.from_ndarray(np.full((HEIGHT, WIDTH, 3), level, np.uint8), "rgb24")
            output.mux(stream.encode(picture))
        output.mux(stream.encode())


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "TIFF", "BMP", "AVIF"])
def test_pictures_by_content_whatever_the_ending(tmp_path: Path, name: str) -> None:
    path = tmp_path / "üñí 目标.mp4"
    support.photograph().save(path, name)
    found = probe(path)
    assert (found.kind, found.format, found.width, found.height, found.mode) == ("picture", name, WIDTH, HEIGHT, "RGB")
    assert not found.turned


@pytest.mark.parametrize("name", ["GIF", "PNG", "WEBP"])
def test_animations_by_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / "moving.jpg"
    support.photograph().save(path, name, save_all=True, append_images=[support.picture("L").convert("RGB")])
    assert (probe(path).kind, probe(path).format) == ("animation", name)
    assert np.abs(read_rgb(path).astype(int) - np.asarray(support.photograph())).mean() < 6


@pytest.mark.parametrize(
    ("container", "codec"), [("mp4", "libx264"), ("matroska", "libx264"), ("webm", "libvpx-vp9"), ("avi", "mpeg4")]
)
def test_videos_by_content(tmp_path: Path, container: str, codec: str) -> None:
    path = tmp_path / "clip.png"
    _video(path, container, codec)
    found = probe(path)
    assert (found.kind, found.width, found.height) == ("video", WIDTH, HEIGHT)
    assert np.abs(read_rgb(path).astype(int) - 200).max() <= 4


@pytest.mark.parametrize("suffix", [".jpg", ".tif", ".png"])
def test_size_and_profile_as_seen(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    with Image.open(support.STILLS / "astronaut.png") as image:
        profile = image.info["icc_profile"]
    support.photograph().save(path, exif=support.exif(6), icc_profile=profile)
    found = probe(path)
    assert (found.width, found.height, found.turned) == (HEIGHT, WIDTH, True)
    assert found.profile == "sRGB IEC61966-2.1"


def test_what_is_neither_is_said(tmp_path: Path) -> None:
    text, empty, sound = tmp_path / "text.mp4", tmp_path / "empty.jpg", tmp_path / "sound.mp4"
    pipe, whole, cut = tmp_path / "pipe.mp4", tmp_path / "whole.mp4", tmp_path / "cut.mp4"
    os.mkfifo(pipe)
    _video(whole, "mp4", "libx264")
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    text.write_text("1\n00:00:01,000 --> 00:00:02,000\nSubtitles open as a container, too.\n")
    empty.touch()
    with av.open(str(sound), "w") as output:
        stream = output.add_stream("aac", rate=44100, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        frame.sample_rate = 44100
        output.mux(stream.encode(frame))
        output.mux(stream.encode())
    for path, reason in [
        (text, "neither a picture nor a video"),
        (empty, "is empty"),
        (sound, "neither a picture nor a video"),
        (pipe, "is a pipe"),
        (cut, "ended too early"),
        (tmp_path, "is a directory"),
        (tmp_path / "missing.mp4", "does not exist"),
    ]:
        with pytest.raises(UnreadableError, match=reason) as error:
            probe(path)
        assert path.name in str(error.value)
