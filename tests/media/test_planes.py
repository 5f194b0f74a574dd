"""Rectangles of stored planes as RGB and back, against independent conversions."""

from __future__ import annotations

from fractions import Fraction

import av
import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mien.geometry import Rect
from mien.media.colour import Colour, ColourTags
from mien.media.orientation import Orientation
from mien.media.planes import PixelLayout, PlaneFrame, nearest_editable, plane_arrays

EDITABLE = [
    *("yuv420p", "yuvj420p", "yuva420p", "yuv422p", "yuv444p", "yuv440p", "yuv411p", "yuv420p10le", "yuv422p10le"),
    *("yuv444p10le", "yuv420p12le", "yuv444p16le", "gray", "gray10le", "gray12le", "gray16le", "gbrp", "gbrp10le"),
    *("gbrp12le", "gbrap", "rgb24", "bgr24", "rgba", "bgra", "argb", "rgb48le"),
]
ORIENTATIONS = [Orientation(*(bool(code & bit) for bit in (1, 2, 4))) for code in range(8)]


def picture(pixel_format: str, width: int = 61, height: int = 47, seed: int = 0) -> av.VideoFrame:
    """Smooth colours with a little noise, in any format, by FFmpeg's own conversion from RGB."""
    rng = np.random.default_rng(seed)
    rough = rng.uniform(40, 215, (4, 5, 3)).astype(np.float32)
    rgb = cv2.resize(rough, (width, height), interpolation=cv2.INTER_CUBIC) + rng.normal(0, 2, (height, width, 3))
    frame = av.VideoFrame.from_ndarray(np.clip(rgb, 0, 255).astype(np.uint8), format="rgb24")
    return frame.reformat(format=pixel_format)


def wrap(frame: av.VideoFrame, tags: ColourTags | None = None, orientation: Orientation | None = None) -> PlaneFrame:
    layout = PixelLayout.named(frame.format.name)
    assert layout is not None
    colour = Colour.resolve(tags or ColourTags(), frame.height, rgb=layout.family == "rgb", full=layout.full)
    return PlaneFrame(frame, index=0, time_s=0.0, colour=colour, orientation=orientation or Orientation())


def stored(frame: PlaneFrame) -> list[np.ndarray]:
    return [plane.copy() for plane in plane_arrays(frame.picture, frame.layout)]


def aligned(frame: PlaneFrame, rect: Rect) -> Rect:
    result = rect.align(frame.step, frame.width, frame.height)
    assert result is not None
    return result


@pytest.mark.parametrize("pixel_format", EDITABLE)
def test_display_agrees_with_ffmpeg(pixel_format: str) -> None:
    frame = picture(pixel_format)
    theirs = frame.reformat(format="rgb24").to_ndarray().astype(int)
    ours = wrap(frame).display().astype(int)
    assert ours.shape == (47, 61, 3)
    # FFmpeg repeats chroma samples, we interpolate them: colour may differ a little, brightness not.
    assert np.abs(ours - theirs).mean() < (6 if pixel_format == "yuv411p" else 3)
    assert np.abs(ours.mean(axis=2) - theirs.mean(axis=2)).mean() < 2.5


@pytest.mark.parametrize("pixel_format", EDITABLE)
def test_no_difference_changes_nothing(pixel_format: str) -> None:
    frame = wrap(picture(pixel_format))
    before = stored(frame)
    rect = aligned(frame, Rect(8, 4, 32, 24))
    patch = frame.working(rect)
    frame.apply(rect, patch, patch.copy())
    half = patch.copy()
    half[:8, :8] += 0.2
    frame.apply(rect, patch, half)
    after = stored(frame)
    edited = Rect(rect.x, rect.y, 8, 8)
    for one, two in zip(before, after, strict=True):
        across, down = -(-61 // one.shape[1]), -(-47 // one.shape[0])
        changed = np.argwhere(one != two)
        if len(changed):
            assert changed[:, 1].min() * across >= edited.x
            assert changed[:, 1].max() * across < edited.right
            assert changed[:, 0].min() * down >= edited.y
            assert changed[:, 0].max() * down < edited.bottom
    assert any((one != two).any() for one, two in zip(before, after, strict=True))


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("pixel_format", EDITABLE)
def test_an_edit_is_seen_again(pixel_format: str, orientation: Orientation) -> None:
    frame = wrap(picture(pixel_format), orientation=orientation)
    rect = aligned(frame, Rect(8, 8, 24, 24))
    before = frame.working(rect)
    smooth = np.linspace(-0.15, 0.15, 24, dtype=np.float32)[:, None, None] * np.float32([1, 0.5, -1])
    wanted = before + np.broadcast_to(smooth, before.shape)
    if frame.layout.family == "grey":
        wanted = before + smooth.mean(axis=2, keepdims=True)
    frame.apply(rect, before, wanted)
    tolerance = 2.2 / (2 ** min(frame.layout.bits, 10) - 1)
    if frame.layout.shift_x or frame.layout.shift_y:
        tolerance += 0.006
    inner = (slice(4, -4), slice(4, -4))
    assert np.abs(frame.working(rect) - wanted)[inner].mean() < tolerance


def test_alpha_is_left_alone() -> None:
    for pixel_format in ("yuva420p", "gbrap", "rgba"):
        frame = wrap(picture(pixel_format))
        planes = stored(frame)
        alpha = planes[0][..., 3] if pixel_format == "rgba" else planes[3]
        rect = Rect(8, 8, 24, 24)
        patch = frame.working(rect)
        frame.apply(rect, patch, 1 - patch)
        planes = stored(frame)
        assert np.array_equal(alpha, planes[0][..., 3] if pixel_format == "rgba" else planes[3])


@pytest.mark.parametrize("bits", [8, 10, 12])
def test_samples_stay_within_their_depth(bits: int) -> None:
    frame = wrap(picture("yuv420p" if bits == 8 else f"yuv420p{bits}le"))
    rect = Rect(0, 0, 60, 46)
    patch = frame.working(rect)
    for change in (5.0, -5.0):
        frame.apply(rect, patch, patch + np.float32(change))
        assert all(plane.max() <= 2**bits - 1 for plane in stored(frame))


KNOWN = [
    # Y, Cb, Cr of full red, green, blue and grey in 8 bits: BT.601 and BT.709, tables of the standards.
    (ColourTags(1, 6), (81, 90, 240), (1, 0, 0)),
    (ColourTags(1, 6), (145, 54, 34), (0, 1, 0)),
    (ColourTags(1, 6), (41, 240, 110), (0, 0, 1)),
    (ColourTags(1, 1), (63, 102, 240), (1, 0, 0)),
    (ColourTags(1, 1), (173, 42, 26), (0, 1, 0)),
    (ColourTags(1, 1), (32, 240, 118), (0, 0, 1)),
    (ColourTags(1, 1), (235, 128, 128), (1, 1, 1)),
    (ColourTags(2, 1), (255, 128, 128), (1, 1, 1)),
    (ColourTags(2, 6), (76, 85, 255), (1, 0, 0)),
    (ColourTags(1, 9), (16, 128, 128), (0, 0, 0)),
]


@pytest.mark.parametrize(("tags", "codes", "rgb"), KNOWN)
def test_known_colours(tags: ColourTags, codes: tuple[int, int, int], rgb: tuple[int, int, int]) -> None:
    frame = wrap(av.VideoFrame(16, 16, "yuv444p"), tags)
    for plane, code in zip(plane_arrays(frame.picture, frame.layout), codes, strict=True):
        plane[...] = code
    assert frame.working(Rect(0, 0, 16, 16))[3, 3] == pytest.approx(rgb, abs=0.006)
    assert frame.display()[3, 3] == pytest.approx(np.array(rgb) * 255, abs=2)


def test_untagged_video_follows_its_height() -> None:
    assert Colour.resolve(ColourTags(), 480).red == 0.299
    assert Colour.resolve(ColourTags(), 576).red == 0.2126
    assert not Colour.resolve(ColourTags(), 576).full


@given(x=st.integers(0, 40), y=st.integers(0, 30), width=st.integers(1, 21), height=st.integers(1, 17))
@settings(max_examples=40, deadline=None)
def test_a_pixel_does_not_depend_on_the_rectangle(x: int, y: int, width: int, height: int) -> None:
    for pixel_format in ("yuv420p", "yuv422p10le", "yuv411p"):
        for orientation in (Orientation(), Orientation(True, False, True)):
            frame = wrap(picture(pixel_format), orientation=orientation)
            whole = frame.working(Rect(0, 0, frame.width, frame.height))
            rect = Rect(min(x, frame.width - 1), min(y, frame.height - 1), width, height).clip(
                frame.width, frame.height
            )
            assert rect is not None
            assert np.allclose(frame.working(rect), whole[rect.slices], atol=1e-5)
            # What is displayed has its chroma rounded to whole codes first.
            assert np.abs(frame.display(rect).astype(int) - np.clip(whole[rect.slices], 0, 1) * 255).max() < 2


@given(x=st.integers(0, 40), y=st.integers(0, 30), width=st.integers(1, 21), height=st.integers(1, 17))
@settings(max_examples=40, deadline=None)
def test_any_rectangle_can_be_edited(x: int, y: int, width: int, height: int) -> None:
    for orientation in (Orientation(), Orientation(True, True, False)):
        frame = wrap(picture("yuv420p"), orientation=orientation)
        rect = Rect(x, y, width, height).clip(frame.width, frame.height)
        assert rect is not None
        luma = frame.orientation.upright(stored(frame)[0])
        patch = frame.working(rect)
        frame.apply(rect, patch, patch + np.float32(0.1))
        change = frame.orientation.upright(stored(frame)[0]).astype(int) - luma
        assert (change[rect.slices] == 22).all()  # 0.1 of 219 steps.
        change[rect.slices] = 0
        assert not change.any()


@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuv420p10le", "gray", "rgb24", "gbrp"])
def test_small_views_are_area_averages(pixel_format: str) -> None:
    frame = wrap(picture(pixel_format, 320, 200))
    small = frame.display(max_side=64)
    assert small.shape == (40, 64, 3)
    reference = cv2.resize(frame.display(), (64, 40), interpolation=cv2.INTER_AREA)
    assert np.abs(small.astype(int) - reference).mean() < 1
    assert frame.display(Rect(10, 10, 30, 20), max_side=64).shape == (20, 30, 3)


def test_editing_moves_to_a_copy_that_others_do_not_see() -> None:
    original = picture("yuv420p")
    encoder = av.CodecContext.create("rawvideo", "w")
    encoder.width, encoder.height, encoder.pix_fmt = original.width, original.height, "yuv420p"
    encoder.time_base = Fraction(1, 25)
    frame = wrap(original)
    rect = Rect(8, 8, 16, 16)
    raw = bytes(encoder.encode(original)[0])
    patch = frame.working(rect)
    frame.apply(rect, patch, 1 - patch)
    assert bytes(encoder.encode(frame.picture)[0]) != raw


LOSSLESS = ["nv12", "nv21", "nv16", "p010le", "yuyv422", "uyvy422", "gray10be", "yuv420p10be"]


@pytest.mark.parametrize("pixel_format", LOSSLESS)
def test_formats_on_the_way_to_planes_lose_nothing(pixel_format: str) -> None:
    target, lossless = nearest_editable(pixel_format)
    assert lossless
    frame = picture(pixel_format, 64, 48)
    there = frame.reformat(format=target)
    back = there.reformat(format=pixel_format)
    for one, two in zip(frame.planes, back.planes, strict=True):
        visible = 64 if len(frame.planes) > 1 else 128
        lines = [np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[:, :visible] for plane in (one, two)]
        assert np.array_equal(*lines)
    assert PixelLayout.named(target)


def test_formats_that_lose_are_named_so() -> None:
    assert nearest_editable("xyz12le") == ("yuv444p16le", False)
    assert nearest_editable("yuv420p") == ("yuv420p", True)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_orientation_moves_rectangles_with_pixels(orientation: Orientation) -> None:
    array = np.arange(7 * 11).reshape(7, 11)
    upright = orientation.upright(array)
    width, height = orientation.size(11, 7)
    assert upright.shape == (height, width)
    assert np.array_equal(orientation.stored(upright), array)
    rect = Rect(1, 2, 3, 4)
    moved = orientation.stored_rect(rect, width, height)
    assert np.array_equal(orientation.upright(array[moved.slices]), upright[rect.slices])


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ((1, 0, 0, 0, 1, 0, 0, 0, 1), lambda array: array),
        ((0, -1, 0, 1, 0, 0, 0, 0, 1), np.rot90),
        ((-1, 0, 0, 0, -1, 0, 0, 0, 1), lambda array: np.rot90(array, 2)),
        ((0, 1, 0, -1, 0, 0, 0, 0, 1), lambda array: np.rot90(array, 3)),
        ((-1, 0, 0, 0, 1, 0, 0, 0, 1), np.fliplr),
        ((1, 0, 0, 0, -1, 0, 0, 0, 1), np.flipud),
    ],
)
def test_display_matrices(matrix: tuple[int, ...], expected) -> None:
    orientation = Orientation.from_matrix([65536 * value for value in matrix])
    assert orientation is not None
    array = np.arange(12).reshape(3, 4)
    assert np.array_equal(orientation.upright(array), expected(array))


def test_a_slanted_display_matrix_is_none_of_them() -> None:
    assert Orientation.from_matrix([46341, 46341, 0, -46341, 46341, 0, 0, 0, 1 << 30]) is None
