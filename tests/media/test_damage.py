"""Damage in the middle of a picture is never passed over in silence where its format gives a way to tell."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import UnreadableError
from mien.media.pictures import is_damaged, read_picture
from support import pictures as support

GARBAGE_BYTES = 400
TOLD: dict[str, tuple[str, dict[str, object]]] = {
    "baseline.jpg": ("RGB", {"quality": 90}),
    "progressive.jpg": ("RGB", {"quality": 90, "progressive": True}),
    "grey.jpg": ("L", {"quality": 90}),
    "inks.jpg": ("CMYK", {"quality": 90}),
    "restart.jpg": ("RGB", {"quality": 90, "restart_marker_blocks": 8}),
    "colours.png": ("RGB", {}),
    "palette.png": ("P", {}),
    "deflate.tif": ("RGB", {"compression": "tiff_adobe_deflate"}),
    "deflate-inks.tif": ("CMYK", {"compression": "tiff_adobe_deflate"}),
    "lzw.tif": ("RGB", {"compression": "tiff_lzw"}),
    "jpeg.tif": ("RGB", {"compression": "jpeg"}),
}


def picture_bytes(name: str, mode: str, options: dict[str, object]) -> bytes:
    buffer = io.BytesIO()
    kind = {"jpg": "JPEG", "png": "PNG", "tif": "TIFF"}[name.rpartition(".")[2]]
    support.photograph(480, 360).convert(mode).save(buffer, kind, **options)
    return buffer.getvalue()


def says_damaged(path: Path) -> bool:
    """By an error, or by a warning where the picture can be shown."""
    try:
        return any("damaged" in warning for warning in read_picture(path).warnings)
    except UnreadableError:
        return True


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("place", [0.4, 0.6, 0.8])
def test_garbage_in_the_middle_is_said(tmp_path: Path, name: str, place: float) -> None:
    path = tmp_path / name
    data = bytearray(picture_bytes(name, *TOLD[name]))
    at = int(len(data) * place)
    data[at : at + GARBAGE_BYTES] = np.random.default_rng(int(place * 10)).bytes(GARBAGE_BYTES)
    path.write_bytes(data)
    assert says_damaged(path)


def test_of_what_can_be_read_it_is_known_without_reading_it_again(tmp_path: Path) -> None:
    for name, damaged in ((name, damaged) for name in TOLD for damaged in (False, True)):
        path = tmp_path / name
        data = bytearray(picture_bytes(name, *TOLD[name]))
        if damaged:
            at = len(data) * 2 // 3
            data[at : at + GARBAGE_BYTES] = np.random.default_rng(6).bytes(GARBAGE_BYTES)
        path.write_bytes(data)
        try:
            warnings = read_picture(path).warnings
        except UnreadableError:
            continue
        assert is_damaged(path) == any("damaged" in warning for warning in warnings)


@pytest.mark.parametrize("name", TOLD)
def test_sound_pictures_are_not_called_damaged(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(picture_bytes(name, *TOLD[name]))
    assert not says_damaged(path)


SOUND: dict[str, dict[str, object]] = {
    **{f"sampling {kind}": {"subsampling": kind} for kind in ("4:4:4", "4:2:2", "4:2:0")},
    "best": {"quality": 100, "subsampling": 0},
    "worst": {"quality": 1},
    "one block": {"size": (1, 1)},
    "odd": {"size": (101, 33)},
    "flat and wide": {"size": (3000, 3)},
    "without colour change": {"keep_rgb": True},
    "restarts between scans": {"progressive": True, "restart_marker_rows": 1},
    "bytes like markers in a comment": {"comment": b"\xff\xd9\xff\xda" * 9},
    "large profile": {"icc_profile": b"\xff" * 200_000},
    "something behind its end": {"tail": b"a motion clip, say" * 500},
    "fill bytes": {"head": b"\xff\xff\xff"},
}


@pytest.mark.parametrize("kind", SOUND)
def test_what_is_odd_but_sound_in_a_jpeg_is_not_called_damaged(tmp_path: Path, kind: str) -> None:
    options = dict(SOUND[kind])
    size, tail, head = (options.pop(name, None) for name in ("size", "tail", "head"))
    image = support.photograph(480, 360)
    buffer = io.BytesIO()
    (image.resize(size) if size else image).save(buffer, "JPEG", **options)
    data = buffer.getvalue()
    path = tmp_path / "a.jpg"
    path.write_bytes(data[:2] + (head or b"") + data[2:] + (tail or b""))
    assert not says_damaged(path)


def test_a_damaged_picture_is_what_a_viewer_shows(tmp_path: Path) -> None:
    """One restart interval is lost; what a plain decoder makes of the rest is what is edited."""
    name = "restart.jpg"
    data = bytearray(picture_bytes(name, *TOLD[name]))
    first = data.index(b"\xff\xd3", len(data) // 2)
    last = data.index(b"\xff\xd4", first)
    data[first + 3 : last - 1] = b"\x55" * (last - first - 4)
    path = tmp_path / name
    path.write_bytes(data)
    picture = read_picture(path)
    assert "damaged" in picture.warnings[0]
    with Image.open(path) as seen:
        np.testing.assert_array_equal(picture.pixels, np.asarray(seen))
