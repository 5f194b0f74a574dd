"""Animations keep their timing, loop, alpha and untouched pixels; Pillow and ffprobe look at the results."""

from __future__ import annotations

import itertools
import json
import subprocess
import tracemalloc
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mien.errors import UnreadableError, UnwritableError, UsageError
from mien.geometry import Rect
from mien.media.animation import AnimationFrame, AnimationSource, AnimationWriter
from support import pictures as support
from support.pictures import brighten, outside

WIDTH, HEIGHT = 96, 72
RECT = Rect(40, 20, 30, 25)
DELAYS_MS = [100, 70, 230, 40, 500]
FORMATS = ["gif", "png", "webp"]


def _frames(*, alpha: bool) -> list[Image.Image]:
    """A box that moves over a photograph; with `alpha` holes that open and close, and a soft edge."""
    frames: list[Image.Image] = []
    for number in range(len(DELAYS_MS)):
        pixels = np.asarray(support.photograph().convert("RGBA")).copy()
        pixels[4:14, 8 * number : 8 * number + 16] = [255, 0, 40 * number, 255]
        if alpha:
            pixels[60:, :] = 0
            pixels[14 + 4 * number : 18 + 4 * number, :] = 0
            pixels[50:60, :, 3] = 128
        frames.append(Image.fromarray(pixels) if alpha else Image.fromarray(pixels[..., :3].copy()))
    return frames


def _make(path: Path, *, alpha: bool = False, loop: int | None = 0, **options: Any) -> Path:
    first, *rest = _frames(alpha=alpha)
    if path.suffix == ".webp":
        options = {"lossless": True, **options}
    if loop is not None:
        options["loop"] = loop
    first.save(path, save_all=True, append_images=rest, duration=DELAYS_MS, **options)
    return path


def _seen(path: Path) -> tuple[list[NDArray[np.int16]], list[float], int | None]:
    """Composited RGBA frames, their durations in ms, and the loop count, by Pillow."""
    with Image.open(path) as image:
        pixels, durations = [], []
        for number in range(image.n_frames):
            image.seek(number)
            pixels.append(np.asarray(image.convert("RGBA")).astype(np.int16))
            durations.append(image.info.get("duration"))
        return pixels, durations, image.info.get("loop")


def _visible(frame: NDArray[np.int16]) -> NDArray[np.int16]:
    """Colours, black where nothing is shown."""
    return np.where(frame[..., 3:] > 0, frame, 0)


def _edit(source: Path, output: Path, frames: Iterable[int] = range(100)) -> list[str]:
    with AnimationSource(source) as animation, AnimationWriter(output, animation) as writer:
        for frame in animation.frames():
            if frame.index in frames:
                brighten(frame, RECT)
            writer.write(frame)
        return [*animation.warnings, *writer.warnings]


@pytest.mark.parametrize("alpha", [False, True], ids=["opaque", "alpha"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_timing_loop_alpha_and_untouched_pixels_are_kept(tmp_path: Path, suffix: str, alpha: bool) -> None:
    source, output = _make(tmp_path / f"a.{suffix}", alpha=alpha, loop=3), tmp_path / f"b.{suffix}"
    assert _edit(source, output) == []
    (before, delays, loop), (after, new_delays, new_loop) = _seen(source), _seen(output)
    assert (new_delays, new_loop) == (delays, loop)
    assert len(after) == len(before) == len(DELAYS_MS)
    for first, second in zip(before, after, strict=True):
        assert np.array_equal(second[..., 3], first[..., 3])
        mask = outside(RECT, HEIGHT, WIDTH)
        assert np.array_equal(_visible(second)[mask], _visible(first)[mask])
        inner = (first[RECT.slices][..., 3] == 255) & (first[RECT.slices][..., :3] < 220).all(axis=2)
        change = (second - first)[RECT.slices][..., :3][inner]
        assert change.mean() == pytest.approx(25.5, abs=5 if suffix == "gif" else 0.6)


@pytest.mark.parametrize("suffix", ["gif", "png"])
def test_ffprobe_sees_the_same_time_stamps(tmp_path: Path, suffix: str) -> None:
    source, output = _make(tmp_path / f"a.{suffix}"), tmp_path / f"b.{suffix}"
    _edit(source, output)
    stamps = [_stamps(path) for path in (source, output)]
    assert len(stamps[0]) == len(DELAYS_MS)
    assert stamps[0] == stamps[1]


def _stamps(path: Path) -> list[tuple[str, str]]:
    kind = ["-f", "apng"] if path.suffix == ".png" else []
    command = ["ffprobe", "-v", "error", *kind, "-show_entries", "packet=pts_time,duration_time", "-of", "json"]
    packets = json.loads(subprocess.run([*command, str(path)], check=True, capture_output=True).stdout)["packets"]
    return [(packet["pts_time"], packet["duration_time"]) for packet in packets]


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(FORMATS, 2)))
def test_another_format_keeps_frames_times_and_loop(tmp_path: Path, first: str, second: str) -> None:
    source, output = _make(tmp_path / f"a.{first}", alpha=first != "gif"), tmp_path / f"b.{second}"
    warnings = _edit(source, output)
    assert bool(warnings) == (second == "gif")
    (before, delays, loop), (after, new_delays, new_loop) = _seen(source), _seen(output)
    assert (new_delays, new_loop) == (delays, loop)
    for one, other in zip(before, after, strict=True):
        mask = outside(RECT, HEIGHT, WIDTH)
        shown = mask & ((one[..., 3] == 255) if second == "gif" else True)
        tolerance = 6 if second == "gif" else 0
        assert np.abs(_visible(one) - _visible(other))[shown].mean() <= tolerance


@pytest.mark.parametrize("loop", [None, 0, 1, 5])
def test_loops_of_gif_count_what_follows_the_first_showing(tmp_path: Path, loop: int | None) -> None:
    source = _make(tmp_path / "a.gif", loop=loop)
    with AnimationSource(source) as animation:
        assert animation.info.loop == {None: 1, 0: 0, 1: 2, 5: 6}[loop]
    _edit(source, tmp_path / "b.gif")
    assert _seen(tmp_path / "b.gif")[2] == loop
    _edit(source, tmp_path / "c.webp")
    assert _seen(tmp_path / "c.webp")[2] == {None: 1, 0: 0, 1: 2, 5: 6}[loop]


def test_the_source_tells_times_exactly(tmp_path: Path) -> None:
    with AnimationSource(_make(tmp_path / "a.png")) as animation:
        frames = list(animation.frames())
        assert animation.info.frame_count == len(frames) == 5
        assert animation.info.durations_s == tuple(Fraction(delay, 1000) for delay in DELAYS_MS)
        assert animation.info.duration_s == pytest.approx(0.94)
        assert [frame.time_s for frame in frames] == pytest.approx([0, 0.1, 0.17, 0.4, 0.44])
        assert [(frame.width, frame.height) for frame in frames] == [(WIDTH, HEIGHT)] * 5


def test_frames_that_show_the_same_stay_apart(tmp_path: Path) -> None:
    for suffix in FORMATS:
        source = _make(tmp_path / f"a.{suffix}")
        with AnimationSource(source) as animation, AnimationWriter(tmp_path / f"b.{suffix}", animation) as writer:
            still = next(animation.frames())
            for frame in animation.frames():
                frame.rgba[...] = still.rgba
                writer.write(frame)
        pixels, delays, _ = _seen(tmp_path / f"b.{suffix}")
        assert delays == DELAYS_MS
        assert all(np.array_equal(frame, pixels[0]) for frame in pixels)


def test_gif_rounds_times_without_drifting(tmp_path: Path) -> None:
    source = tmp_path / "a.webp"
    first, *rest = _frames(alpha=False)
    first.save(source, save_all=True, append_images=rest, duration=[33, 33, 34, 33, 33], lossless=True)
    assert any("hundredths" in warning for warning in _edit(source, tmp_path / "b.gif"))
    assert sum(_seen(tmp_path / "b.gif")[1]) == pytest.approx(166, abs=5)


def test_gif_draws_only_what_changed(tmp_path: Path) -> None:
    source = tmp_path / "a.gif"
    with AnimationSource(_make(source)) as animation, AnimationWriter(tmp_path / "b.gif", animation) as writer:
        still = next(animation.frames())
        for frame in animation.frames():
            frame.rgba[...] = still.rgba
            writer.write(frame)
    once = tmp_path / "once.gif"
    _frames(alpha=False)[0].quantize(256).save(once)
    assert (tmp_path / "b.gif").stat().st_size < 1.5 * once.stat().st_size


def test_a_hidden_first_picture_of_apng_stays_hidden(tmp_path: Path) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.png"
    first, *rest = _frames(alpha=False)
    first.save(source, save_all=True, append_images=rest, duration=DELAYS_MS[1:], default_image=True)
    _edit(source, output)
    with Image.open(output) as image:
        assert image.info["default_image"]
        assert image.n_frames == 5
    assert _stamps(output) == _stamps(source)
    _edit(source, tmp_path / "c.webp")
    assert _seen(tmp_path / "c.webp")[1] == DELAYS_MS[1:]


def test_metadata_and_comments_are_carried(tmp_path: Path) -> None:
    profile = support.display_p3()
    for suffix, options in [("webp", {"icc_profile": profile, "exif": support.exif(1), "xmp": b"<x:xmpmeta/>"}),
                            ("png", {"icc_profile": profile, "exif": support.exif(1)}),
                            ("gif", {"comment": b"Ein Bild"})]:  # fmt: skip
        source, output = _make(tmp_path / f"a.{suffix}", **options), tmp_path / f"b.{suffix}"
        _edit(source, output)
        with Image.open(source) as first, Image.open(output) as second:
            for name in options:
                values = [image.info[name].removeprefix(b"Exif\0\0") for image in (first, second)]
                assert values[0] == values[1]


def test_an_orientation_is_applied_and_kept_or_baked_in(tmp_path: Path) -> None:
    source = _make(tmp_path / "a.webp", exif=support.exif(6))
    with AnimationSource(source) as animation:
        assert (animation.info.width, animation.info.height) == (HEIGHT, WIDTH)
        frame = next(animation.frames())
        assert np.array_equal(frame.display(), np.rot90(_seen(source)[0][0][..., :3], -1))
    _edit(source, tmp_path / "b.webp")
    with Image.open(tmp_path / "b.webp") as image:
        assert image.size == (WIDTH, HEIGHT)
        assert image.getexif()[0x0112] == 6
    _edit(source, tmp_path / "b.gif")
    with Image.open(tmp_path / "b.gif") as image:
        assert image.size == (HEIGHT, WIDTH)


def test_lossy_webp_stays_lossy_and_close(tmp_path: Path) -> None:
    source, output = _make(tmp_path / "a.webp", lossless=False, quality=80), tmp_path / "b.webp"
    _edit(source, output)
    assert b"VP8 " in output.read_bytes()
    assert b"VP8L" not in output.read_bytes()
    far = outside(Rect(24, 4, 62, 57), HEIGHT, WIDTH)
    for first, second in zip(_seen(source)[0], _seen(output)[0], strict=True):
        assert support.psnr(first[far], second[far]) > 38


@pytest.mark.parametrize("suffix", ["gif", "png"])
def test_a_file_that_ends_early_is_finished_with_a_warning(tmp_path: Path, suffix: str) -> None:
    source, output = _make(tmp_path / f"a.{suffix}"), tmp_path / f"b.{suffix}"
    data = source.read_bytes()
    source.write_bytes(data[: len(data) - 200])
    warnings = _edit(source, output)
    assert any("ends early" in warning for warning in warnings)
    count = len(_seen(output)[0])
    assert 1 <= count < len(DELAYS_MS)
    assert _seen(output)[1] == DELAYS_MS[:count]


def test_bad_files_and_names_are_said(tmp_path: Path) -> None:
    text = tmp_path / "text.gif"
    text.write_text("GIF89a, but nothing more")
    for path in (text, tmp_path / "missing.gif", tmp_path):
        with pytest.raises(UnreadableError, match=path.name):
            AnimationSource(path)
    with AnimationSource(_make(tmp_path / "a.gif")) as animation:
        with pytest.raises(UsageError, match=r"\.webp"):
            AnimationWriter(tmp_path / "b.mp4", animation)
        with (
            pytest.raises(UnwritableError, match="does not exist"),
            AnimationWriter(tmp_path / "no" / "b.gif", animation),
        ):
            pass


def test_an_error_on_the_way_leaves_no_file(tmp_path: Path) -> None:
    source = _make(tmp_path / "a.gif")
    with (
        AnimationSource(source) as animation,
        suppress(RuntimeError),
        AnimationWriter(tmp_path / "b.gif", animation) as writer,
    ):
        writer.write(next(animation.frames()))
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_memory_does_not_grow_with_the_number_of_frames(tmp_path: Path, suffix: str) -> None:
    with AnimationSource(_make(tmp_path / "a.webp")) as animation:
        frames = list(animation.frames())
        peaks = [_peak(animation, frames, tmp_path / f"b.{suffix}", count) for count in (5, 10, 60)]
    assert peaks[2] < peaks[1] + 500_000


def _peak(animation: AnimationSource, frames: list[AnimationFrame], output: Path, count: int) -> int:
    """Most bytes held while `count` frames were written."""
    tracemalloc.start()
    with AnimationWriter(output, animation) as writer:
        for frame in itertools.islice(itertools.cycle(frames), count):
            writer.write(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(_seen(output)[0]) == count
    return peak
