"""What the watermark does to a frame: little, where it is not seen, and in the brightness alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from mien.media.orientation import Orientation
from mien.media.pictures import read_picture, write_picture
from mien.media.planes import plane_arrays
from mien.trust.watermark import SMALLEST_SIDE, Watermark, detect, detect_file
from support.drawn import DRAWN, drawing, gradient, noise, plain
from support.people import NAMES, picture
from support.pictures import psnr, write_deep_png
from support.watermarked import MARK, marked, plane_frame

PICTURES: dict[str, Callable[[], np.ndarray]] = {name: lambda name=name: picture(name) for name in NAMES} | dict(DRAWN)


@pytest.mark.parametrize("name", PICTURES)
def test_it_is_more_than_40_db_below_the_picture_and_says_so(name: str) -> None:
    original, watermark = PICTURES[name](), Watermark(MARK)
    after = marked(original, watermark)
    loss = psnr(original, after)
    assert loss >= 40
    assert watermark.psnr_db == pytest.approx(loss, abs=0.1)


def test_plain_ground_changes_by_two_codes_at_most() -> None:
    for original in (plain(), plain(level=20), gradient()):
        assert np.abs(marked(original).astype(int) - original).max() <= 2


def test_it_is_stronger_in_texture_than_beside_it() -> None:
    original = plain()
    original[:, 320:] = noise(320)
    change = np.abs(marked(original).astype(float) - original)
    assert change[:, 340:].mean() > 2 * change[:, :300].mean()


def test_a_lone_edge_does_not_call_for_strength() -> None:
    original = plain()
    original[:, 320:] = 220
    change = np.abs(marked(original).astype(int) - original)
    assert change.max() <= 3


def test_it_has_no_patches_that_could_be_seen() -> None:
    """All of it is finer than a few cells: averaged over 8 of them hardly anything is left."""
    original = plain(1280, 720)
    change = marked(original).astype(np.float32)[..., 0] - original[..., 0]
    patches = cv2.blur(change, (40, 40))[20:-20, 20:-20]
    assert patches.std() < 0.1 * change.std()


@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuvj420p", "yuv422p10le", "yuv444p12le", "gray", "gray10le"])
def test_colour_planes_stay_as_they_are(pixel_format: str) -> None:
    frame = plane_frame(picture("astronaut"), pixel_format)
    before = [plane.copy() for plane in plane_arrays(frame.picture, frame.layout)]
    assert Watermark(MARK).embed(frame)
    luma, *colour = plane_arrays(frame.picture, frame.layout)
    assert (luma != before[0]).mean() > 0.3
    assert luma.max() < 2**frame.layout.bits
    assert all(np.array_equal(plane, was) for plane, was in zip(colour, before[1:], strict=True))


@pytest.mark.parametrize(
    "pixel_format",
    ["yuv420p", "yuv420p10le", "yuv422p12le", "yuv444p16le", "gray", "gray16le", "gbrp", "gbrp10le", "rgb24", "bgra"],
)
def test_every_format_of_frames_carries_it(pixel_format: str) -> None:
    frame = plane_frame(picture("astronaut"), pixel_format)
    assert Watermark(MARK).embed(frame)
    assert detect([frame.display()]).mark_id == MARK


def test_finer_samples_get_a_finer_mark() -> None:
    """Ten bits hold values between those of eight."""
    frame = plane_frame(plain(), "yuv420p10le")
    before = plane_arrays(frame.picture, frame.layout)[0].astype(int)
    Watermark(MARK).embed(frame)
    change = plane_arrays(frame.picture, frame.layout)[0].astype(int) - before
    assert (change % 4 != 0).mean() > 0.3
    assert np.abs(change).max() <= 12


def test_code_values_stop_at_the_ends() -> None:
    for level in (0, 255):
        after = marked(plain(level=level)).astype(int)
        assert np.abs(after - level).max() <= 3


@pytest.mark.parametrize("size", [(145, 144), (321, 577), (853, 479), (1500, 150)])
def test_odd_sizes_carry_it(size: tuple[int, int]) -> None:
    assert detect([marked(drawing(*size))]).mark_id == MARK


@pytest.mark.parametrize("code", range(8))
def test_a_turned_video_carries_it_upright(code: int) -> None:
    orientation = Orientation(*(bool(code & bit) for bit in (1, 2, 4)))
    upright = picture("astronaut")[:400]
    frame = plane_frame(np.ascontiguousarray(orientation.stored(upright)), orientation=orientation)
    assert Watermark(MARK).embed(frame)
    assert detect([frame.display()]).mark_id == MARK


def test_the_same_frame_gets_the_same_mark_whatever_came_before() -> None:
    first, fresh, used = picture("astronaut"), Watermark(MARK), Watermark(MARK)
    marked(picture("luispedro"), used)
    assert np.array_equal(marked(first, fresh), marked(first, used))


def test_a_frame_that_is_too_small_is_left_alone() -> None:
    original = noise(640, SMALLEST_SIDE - 1)
    frame = plane_frame(original)
    before = plane_arrays(frame.picture, frame.layout)[0].copy()
    watermark = Watermark(MARK)
    assert not watermark.embed(frame)
    assert np.array_equal(plane_arrays(frame.picture, frame.layout)[0], before)
    assert watermark.psnr_db is None


class TestPictureFiles:
    @pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "tif", "bmp"])
    @pytest.mark.parametrize("mode", ["RGB", "L"])
    def test_they_carry_it(self, mode: str, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / f"picture.{suffix}"
        Image.fromarray(picture("astronaut")).convert(mode).save(path)
        assert self._marked(path)
        assert detect_file(path).mark_id == MARK

    def test_cmyk_carries_it(self, tmp_path: Path) -> None:
        path = tmp_path / "picture.jpg"
        Image.fromarray(picture("astronaut")).convert("CMYK").save(path, quality=95)
        assert self._marked(path)
        assert detect_file(path).mark_id == MARK

    def test_deep_pictures_carry_it(self, tmp_path: Path) -> None:
        path = tmp_path / "picture.png"
        write_deep_png(path, picture("astronaut").astype(np.uint16) * 257)
        assert self._marked(path)
        assert detect_file(path).mark_id == MARK

    def test_transparency_stays_as_it_is(self, tmp_path: Path) -> None:
        path, image = tmp_path / "picture.png", Image.fromarray(picture("astronaut"))
        ramp = np.repeat(np.linspace(0, 255, 512).astype(np.uint8)[None], 512, axis=0)
        image.putalpha(Image.fromarray(ramp))
        image.save(path)
        assert self._marked(path)
        with Image.open(path) as after:
            assert np.array_equal(np.asarray(after.getchannel("A")), ramp)
        assert detect_file(path).mark_id == MARK

    def test_a_palette_goes_without(self, tmp_path: Path) -> None:
        path = tmp_path / "picture.png"
        Image.fromarray(picture("astronaut")).quantize(200).save(path)
        with Image.open(path) as image:
            before = np.asarray(image)
        assert not self._marked(path)
        with Image.open(path) as image:
            assert np.array_equal(np.asarray(image), before)

    @staticmethod
    def _marked(path: Path) -> bool:
        frame = read_picture(path)
        done = Watermark(MARK).embed(frame)
        write_picture(frame, path)
        return done
