"""Frames made larger keep what their file stores beside the colours, and show what the network says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.engine.session import Ran, Usage
from mien.media.encoding import choose_encoding
from mien.media.pictures import read_picture, write_picture
from mien.media.segments import SegmentWriter, join
from mien.media.video import VideoSource
from mien.models.families.span import Span
from mien.pipeline.enlarging import enlarge
from support import jobs

TIMES = 2


class Repeating:
    """A network that shows each pixel TIMES x TIMES, inverted."""

    ran = Ran("repeating", "numpy", "cpu", "fp32")
    usage = Usage()

    def run(self, inputs):
        return {"output": 1 - inputs["image"].repeat(TIMES, axis=1).repeat(TIMES, axis=2)}


UPSCALER = Span(Repeating(), TIMES)


def expected(rgb: np.ndarray) -> np.ndarray:
    return 255 - rgb.repeat(TIMES, axis=0).repeat(TIMES, axis=1)


def pixels(height: int, width: int, channels: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (height, width, channels), np.uint8)


@pytest.mark.parametrize("suffix", [".png", ".tiff", ".bmp"])
def test_a_picture(tmp_path: Path, suffix: str) -> None:
    before = pixels(150, 210, 3)
    Image.fromarray(before).save(tmp_path / f"a{suffix}")
    write_picture(enlarge(read_picture(tmp_path / f"a{suffix}"), UPSCALER), tmp_path / f"b{suffix}")
    assert np.abs(jobs.rgb(tmp_path / f"b{suffix}").astype(int) - expected(before)).max() <= 1


def test_a_turned_picture_and_its_transparency(tmp_path: Path) -> None:
    before = pixels(40, 60, 4)
    before[..., 3] = np.linspace(0, 255, 60).astype(np.uint8)
    exif = Image.Exif()
    exif[274] = 6
    Image.fromarray(before).save(tmp_path / "a.png", exif=exif)
    large = enlarge(read_picture(tmp_path / "a.png"), UPSCALER)
    assert (large.width, large.height) == (80, 120)
    write_picture(large, tmp_path / "b.png")
    with Image.open(tmp_path / "b.png") as image:
        assert image.getexif()[274] == 6
        after = np.asarray(image)
    assert np.abs(after[..., :3].astype(int) - expected(before[..., :3])).max() <= 1
    assert np.abs(after[..., 3].astype(int) - before[..., 3].repeat(TIMES, 0).repeat(TIMES, 1)).max() <= 3


def test_sixteen_bits_stay(tmp_path: Path) -> None:
    before = np.random.default_rng(5).integers(0, 65536, (30, 40), np.uint16)
    Image.fromarray(before).save(tmp_path / "a.png")
    write_picture(enlarge(read_picture(tmp_path / "a.png"), UPSCALER), tmp_path / "b.png")
    with Image.open(tmp_path / "b.png") as image:
        after = np.asarray(image).astype(int)
    difference = after - (65535 - before.repeat(TIMES, 0).repeat(TIMES, 1).astype(int))
    assert np.abs(difference).max() < 8


def test_a_palette_becomes_all_colours(tmp_path: Path) -> None:
    before = pixels(20, 20, 3)
    Image.fromarray(before).quantize(16).save(tmp_path / "a.png")
    seen = jobs.rgb(tmp_path / "a.png")
    write_picture(enlarge(read_picture(tmp_path / "a.png"), UPSCALER), tmp_path / "b.png")
    assert np.abs(jobs.rgb(tmp_path / "b.png").astype(int) - expected(seen)).max() <= 1


def test_a_video(tmp_path: Path) -> None:
    clip = jobs.talking_clip(tmp_path / "clip.mp4", seconds=0.2)
    with VideoSource(clip) as source:
        encoding = choose_encoding(source.info.enlarged(TIMES), ".mp4", crf=1)
        with SegmentWriter(tmp_path / "packets", source, encoding) as writer:
            for frame in source.frames():
                writer.write(enlarge(frame, UPSCALER))
        join(source, [tmp_path / "packets"], tmp_path / "large.mp4")
    before, after = jobs.video_frames(clip), jobs.video_frames(tmp_path / "large.mp4")
    assert [frame.shape for frame in after] == [(540, 960, 3)] * len(before)
    for one, other in zip(before, after, strict=True):
        assert np.abs(other.astype(int) - expected(one)).mean() < 4  # Colours have half the resolution.
