"""The label is as large as the rule asks, measured by its pixels, and lies over the picture as everyone sees it."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mien.media.pictures import read_picture, write_picture
from mien.media.video import VideoSource
from mien.pipeline.api import Runner
from mien.trust.label import OPENING_S, TEXTS, make_label
from support import jobs
from support.video import ffmpeg

SIZES = [(64, 64), (320, 180), (180, 320), (640, 480), (1920, 1080), (1080, 1920), (4000, 600)]


def grey(path: Path, size: tuple[int, int], level: int = 128) -> Path:
    Image.new("RGB", size, (level,) * 3).save(path)
    return path


def labelled(tmp_path: Path, language: str, size: tuple[int, int]) -> NDArray[np.uint8]:
    """A grey picture with a label."""
    picture = read_picture(grey(tmp_path / "grey.png", size))
    make_label(language, *size).draw(picture)
    write_picture(picture, tmp_path / "out.png")
    return jobs.rgb(tmp_path / "out.png")


def ink(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where the text is."""
    return pixels.min(axis=2) > 160


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("language", TEXTS)
class TestSize:
    def test_capitals_have_at_least_a_twentieth_of_the_shortest_side(
        self, tmp_path: Path, language: str, size: tuple[int, int]
    ) -> None:
        text = ink(labelled(tmp_path, language, size))
        # Both texts begin with an A: its pixels are those before the first empty column.
        columns = np.flatnonzero(text.any(axis=0))
        gaps = np.flatnonzero(~text.any(axis=0))
        after = gaps[gaps > columns[0]][0]
        rows = np.flatnonzero(text[:, columns[0] : after].any(axis=1))
        assert rows[-1] - rows[0] + 1 >= 0.05 * min(size)

    def test_it_lies_in_the_lower_right_corner_and_nowhere_else(
        self, tmp_path: Path, language: str, size: tuple[int, int]
    ) -> None:
        pixels = labelled(tmp_path, language, size)
        changed = (pixels != 128).any(axis=2)
        rows, columns = (np.flatnonzero(changed.any(axis=axis)) for axis in (1, 0))
        assert size[1] - rows[-1] < 0.1 * size[1]
        assert size[0] - columns[-1] < 0.1 * size[0]
        assert rows[0] > size[1] / 2
        assert columns[0] > 0
        assert columns[-1] < size[0] - 1


@pytest.mark.parametrize("level", [0, 128, 255])
def test_it_can_be_read_on_any_ground(tmp_path: Path, level: int) -> None:
    picture = read_picture(grey(tmp_path / "in.png", (400, 300), level))
    label = make_label("en", 400, 300)
    label.draw(picture)
    patch = picture.display(label.rect).astype(float)
    text = label.ink[..., 0] > 0.99
    ground = (label.shade[..., 0] > 0.5) & (label.ink[..., 0] == 0)
    assert patch[text].mean() - patch[ground].mean() > 100


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_on_a_transparent_ground_it_is_opaque(tmp_path: Path, mode: str) -> None:
    with Image.open(jobs.HOPPER) as photograph:
        image = photograph.convert("RGBA").resize((300, 300))
    image.paste((0, 0, 0, 0), (0, 150, 300, 300))
    image = image.quantize(200) if mode == "P" else image.convert(mode)
    image.save(tmp_path / "in.png")
    picture = read_picture(tmp_path / "in.png")
    label = make_label("en", 300, 300)
    label.draw(picture)
    write_picture(picture, tmp_path / "out.png")
    with Image.open(tmp_path / "out.png") as out:
        patch = np.asarray(out.convert("RGBA"))[label.rect.slices]
    shown = label.ink[..., 0] > 0.9
    assert (patch[shown][:, 3] > 200).all()
    assert patch[shown][:, :3].mean() > 200


def clip(path: Path, pixel_format: str, seconds: float, rate: int = 10, **tags: int) -> Path:
    """A plain grey clip."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "libx265", rate=rate, options={"preset": "ultrafast", "x265-params": "log-level=0"}
        )
        stream.width, stream.height, stream.pix_fmt = 320, 180, pixel_format
        for name, value in tags.items():
            setattr(stream.codec_context, name, value)
        for _ in range(round(seconds * rate)):
            grey = av.VideoFrame.from_ndarray(np.full((180, 320, 3), 110, np.uint8), format="rgb24")
            container.mux(stream.encode(grey.reformat(format=pixel_format)))
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize(
    ("pixel_format", "tags"),
    [
        ("yuv420p", {}),
        ("yuv420p10le", {}),
        ("yuv422p10le", {}),
        ("yuv420p10le", {"color_primaries": 9, "color_trc": 16, "colorspace": 9}),
        ("yuv420p10le", {"color_primaries": 9, "color_trc": 18, "colorspace": 9}),
    ],
    ids=["8 bit", "10 bit", "4:2:2", "PQ", "HLG"],
)
def test_it_is_drawn_into_the_stored_planes(tmp_path: Path, pixel_format: str, tags: dict[str, int]) -> None:
    with VideoSource(clip(tmp_path / "in.mp4", pixel_format, 0.3, **tags)) as source:
        frame = next(source.frames())
    luma = np.frombuffer(frame.picture.planes[0], np.uint8 if pixel_format == "yuv420p" else "<u2")
    before = luma.copy()
    label = make_label("zh", frame.width, frame.height, frame.step)
    label.draw(frame)
    after = np.frombuffer(frame.picture.planes[0], before.dtype).reshape(180, -1)[:, :320]
    before = before.reshape(180, -1)[:, :320]
    outside = np.ones(before.shape, bool)
    outside[label.rect.slices] = False
    assert np.array_equal(after[outside], before[outside])
    shown = frame.display(label.rect)
    assert shown[label.ink[..., 0] > 0.99].mean() > 230
    assert shown[(label.shade[..., 0] > 0.5) & (label.ink[..., 0] == 0)].mean() < 110


def test_a_video_shows_it_at_its_opening_for_long_enough(runner: Runner, targets: Path, tmp_path: Path) -> None:
    """And no longer: a trimmed clip counts from its own first frame."""
    ffmpeg("-itsscale", "12", "-i", targets / "target.mp4", "-an", "-c", "copy", tmp_path / "in.mp4")
    recipe = jobs.job(tmp_path / "in.mp4", tmp_path / "out.mp4", start="0.4", label="en", segment_seconds=1)
    report = runner.run(recipe)
    assert report.marks.label == TEXTS["en"]
    label = make_label("en", 480, 270, 2)
    with VideoSource(tmp_path / "out.mp4") as result:
        shown = {
            frame.time_s: frame.display(label.rect)[label.ink[..., 0] > 0.99].mean() > 200 for frame in result.frames()
        }
    assert max(shown) > OPENING_S >= 2
    assert shown == {time_s: time_s < OPENING_S for time_s in shown}


@pytest.mark.parametrize("language", TEXTS)
def test_a_picture_shows_it_in_the_language_asked_for(runner: Runner, tmp_path: Path, language: str) -> None:
    report = runner.run(jobs.job(jobs.HOPPER, tmp_path / "out.png", label=language))
    assert report.marks.label == TEXTS[language]
    pixels = jobs.rgb(tmp_path / "out.png")
    label = make_label(language, pixels.shape[1], pixels.shape[0])
    assert pixels[label.rect.slices][label.ink[..., 0] > 0.99].mean() > 240


def test_the_font_has_all_that_is_written() -> None:
    """A character that it lacks would be drawn as the same empty box as one that no font has."""
    from PIL import ImageFont

    import mien.trust.label as module

    font = ImageFont.truetype(module._FONT, 40)
    missing = bytes(font.getmask("\uffff"))
    for text in TEXTS.values():
        for character in text.replace(" ", ""):
            assert bytes(font.getmask(character)) != missing
