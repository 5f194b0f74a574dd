"""Pictures keep what they are: every kind is made here, edited in a rectangle, and read again by outside readers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from mien.errors import MediaError, UnreadableError, UnsupportedMediaError, UnwritableError
from mien.geometry import Rect
from mien.media.containers import tiff
from mien.media.pictures import read_picture, read_rgb, write_picture
from support import pictures as support
from support.pictures import HEIGHT, WIDTH, brighten, edit_file, outside, psnr, shown, stored_pixels

RECT = Rect(30, 20, 33, 25)
STEP = 25.5
"""What `brighten` adds, in 8-bit levels."""


def _pillow(mode: str, **options: object) -> Callable[[Path], None]:
    return lambda path: support.picture(mode).save(path, **options)


def _deep_png(mode: str) -> Callable[[Path], None]:
    return lambda path: support.write_deep_png(path, support.deep(mode))


def _deep_tiff(mode: str, compression: int) -> Callable[[Path], None]:
    return lambda path: support.write_deep_tiff(path, support.deep(mode), compression)


def _few_greys(bits: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        image = support.picture("L").point(lambda value: value >> (8 - bits)).convert("P")
        image.putpalette([round(level * 255 / ((1 << bits) - 1)) for level in range(1 << bits) for _ in range(3)])
        image.save(path, bits=bits)

    return make


def _transparent_palette(path: Path) -> None:
    support.picture("P").save(path, transparency=bytes([0, 128] + [255] * 198))


LOSSLESS: dict[str, Callable[[Path], None]] = {
    **{f"{mode}.png": _pillow(mode) for mode in ("1", "L", "LA", "P", "RGB", "RGBA")},
    **{f"deep-{mode}.png": _deep_png(mode) for mode in ("L", "LA", "RGB", "RGBA")},
    "transparent-P.png": _transparent_palette,
    "two-bit.png": _few_greys(2),
    "four-bit.png": _few_greys(4),
    **{f"{mode}.bmp": _pillow(mode) for mode in ("1", "L", "P", "RGB")},
    **{f"{mode}.webp": _pillow(mode, lossless=True, exact=True) for mode in ("RGB", "RGBA")},
    **{f"{mode}-lzw.tif": _pillow(mode, compression="tiff_lzw") for mode in ("1", "L", "LA", "P", "RGB", "RGBA")},
    "CMYK-lzw.tif": _pillow("CMYK", compression="tiff_lzw"),
    "RGB-raw.tif": _pillow("RGB"),
    "CMYK-deflate.tif": _pillow("CMYK", compression="tiff_adobe_deflate"),
    "1-group4.tif": _pillow("1", compression="group4"),
    **{f"deep-{mode}-{code}.tif": _deep_tiff(mode, code) for mode in ("L", "RGB", "RGBA") for code in (1, 5, 8)},
}


@pytest.mark.parametrize("name", LOSSLESS)
def test_lossless_formats_keep_mode_depth_and_every_untouched_sample(tmp_path: Path, name: str) -> None:
    source, output = tmp_path / name, tmp_path / f"out{Path(name).suffix}"
    LOSSLESS[name](source)
    assert edit_file(source, output, RECT) == []
    before, after = stored_pixels(source), stored_pixels(output)
    assert (after.dtype, after.shape) == (before.dtype, before.shape)
    with Image.open(source) as first, Image.open(output) as second:
        assert (second.mode, second.format) == (first.mode, first.format)
        assert second.info.get("compression") == first.info.get("compression")
    assert np.array_equal(after[outside(RECT)], before[outside(RECT)])
    assert not np.array_equal(after[RECT.slices], before[RECT.slices])


@pytest.mark.parametrize("name", [name for name in LOSSLESS if not name.startswith(("1", "two", "four"))])
def test_an_edit_shows_as_what_it_is(tmp_path: Path, name: str) -> None:
    source, output = tmp_path / name, tmp_path / f"out{Path(name).suffix}"
    LOSSLESS[name](source)
    edit_file(source, output, RECT)
    difference = read_picture(output).working(RECT) - read_picture(source).working(RECT)
    unclipped = read_picture(source).working(RECT) < 0.88
    tolerance = 0.03 if "P" in name else 0.0021
    assert difference[unclipped].mean() == pytest.approx(0.1, abs=tolerance)


@pytest.mark.parametrize("name", [name for name in LOSSLESS if "A" in name])
def test_alpha_is_left_alone_under_an_edit(tmp_path: Path, name: str) -> None:
    source, output = tmp_path / name, tmp_path / f"out{Path(name).suffix}"
    LOSSLESS[name](source)
    edit_file(source, output, RECT)
    alpha = stored_pixels(source)[..., -1]
    assert len(np.unique(alpha)) > 50
    assert np.array_equal(stored_pixels(output)[..., -1], alpha)


def test_sixteen_bits_are_edited_in_steps_of_sixteen_bits(tmp_path: Path) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.png"
    support.write_deep_png(source, support.deep("RGB"))
    edit_file(source, output, RECT, lambda frame, rect: brighten(frame, rect, 3 / 65535))
    difference = stored_pixels(output).astype(int) - stored_pixels(source)
    assert (difference[RECT.slices] == 3).all()
    assert not difference[outside(RECT)].any()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", [".png", ".tif", ".webp", ".jpg", ".avif"])
def test_orientation_is_applied_for_editing_and_kept_in_the_file(tmp_path: Path, suffix: str, orientation: int) -> None:
    source, output = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    lossless = {"lossless": True} if suffix == ".webp" else {}
    support.photograph().save(source, exif=support.exif(orientation), **lossless)
    with Image.open(source) as image:
        stored_size = image.size
        expected = np.asarray(ImageOps.exif_transpose(image).convert("RGB")).astype(int)
    assert np.abs(shown(source) - expected).max() <= 1
    edit_file(source, output, RECT)
    with Image.open(output) as image:
        assert image.size == stored_size
        assert image.getexif().get(0x0112, 1) == orientation
        assert image.getexif().get_ifd(0x8769)[0x9003] == "2020:01:02 03:04:05"
        result = np.asarray(ImageOps.exif_transpose(image).convert("RGB")).astype(int)
    difference = result - expected
    assert difference[RECT.slices][expected[RECT.slices] < 220].mean() == pytest.approx(STEP, abs=1.5)
    assert np.abs(difference[outside(RECT, *expected.shape[:2])]).mean() < 1


# --- JPEG ---


@pytest.mark.parametrize("sampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("quality", [60, 92])
def test_jpeg_is_coded_with_the_same_tables_sampling_and_scan_order(
    tmp_path: Path, sampling: str, quality: int
) -> None:
    source, output = tmp_path / "a.jpg", tmp_path / "b.jpg"
    support.photograph(320, 240).save(source, quality=quality, subsampling=sampling, progressive=True)
    edit_file(source, output, Rect(64, 64, 64, 64))
    with Image.open(source) as first, Image.open(output) as second:
        assert second.quantization == first.quantization
        assert [layer[:3] for layer in second.layer] == [layer[:3] for layer in first.layer]
        assert second.info["progressive"]
        # A coding unit around the edit takes part in it.
        far = outside(Rect(48, 48, 96, 96), 240, 320)
        assert psnr(np.asarray(first)[far], np.asarray(second)[far]) > 45


def test_jpeg_metadata_is_carried_byte_for_byte(tmp_path: Path) -> None:
    source, output = tmp_path / "a.jpg", tmp_path / "b.jpg"
    block, profile = support.exif(1), support.display_p3()
    support.photograph().save(
        source, exif=block, icc_profile=profile, comment=b"Gru\xc3\x9f", xmp=b"<x:xmpmeta/>", dpi=(300, 150)
    )
    edit_file(source, output, RECT)
    with Image.open(output) as image:
        assert image.info["exif"] == block
        assert image.info["icc_profile"] == profile
        assert image.info["comment"] == b"Gru\xc3\x9f"
        assert image.info["xmp"] == b"<x:xmpmeta/>"
        assert image.info["dpi"] == (300, 150)


def test_no_thumbnail_shows_the_face_that_was_there(tmp_path: Path) -> None:
    source, output = tmp_path / "a.jpg", tmp_path / "b.jpg"
    block = Image.Exif()
    block[0x010F] = "Lichtbild"
    data = bytearray(block.tobytes())
    start = 6
    link = start + 8 + 2 + 12
    thumbnail = b"\xff\xd8the old face\xff\xd9"
    second = len(data) - start
    entries = [(0x0201, second + 2 + 24 + 4), (0x0202, len(thumbnail))]
    data[link : link + 4] = second.to_bytes(4, "big")
    data += len(entries).to_bytes(2, "big")
    for tag, value in entries:
        data += tag.to_bytes(2, "big") + b"\0\x04\0\0\0\x01" + value.to_bytes(4, "big")
    data += bytes(4) + thumbnail
    support.photograph().save(source, exif=bytes(data))
    assert b"the old face" in source.read_bytes()
    edit_file(source, output, RECT)
    assert b"the old face" not in output.read_bytes()
    with Image.open(output) as image:
        assert image.getexif()[0x010F] == "Lichtbild"
        assert not image.getexif().get_ifd(1)


def test_further_pictures_in_a_jpeg_are_left_out_and_said(tmp_path: Path) -> None:
    source, output = tmp_path / "a.jpg", tmp_path / "b.jpg"
    preview = support.photograph().resize((40, 30))
    support.photograph().save(source, "MPO", save_all=True, append_images=[preview])
    assert any("further pictures" in warning for warning in edit_file(source, output, RECT))
    with Image.open(output) as image:
        assert (image.format, image.size) == ("JPEG", (WIDTH, HEIGHT))


def test_photoshop_resources_are_carried_without_their_thumbnail(tmp_path: Path) -> None:
    source, output = tmp_path / "a.jpg", tmp_path / "b.jpg"
    support.photograph().save(source)
    blocks = b"".join(
        b"8BIM" + number.to_bytes(2, "big") + b"\0\0" + len(text).to_bytes(4, "big") + text
        for number, text in [(1028, b"caption!"), (1036, b"the old face"), (1060, b"<x/>")]
    )
    body = b"Photoshop 3.0\0" + blocks
    data = source.read_bytes()
    source.write_bytes(data[:20] + b"\xff\xed" + (len(body) + 2).to_bytes(2, "big") + body + data[20:])
    edit_file(source, output, RECT)
    result = output.read_bytes()
    assert b"caption!" in result
    assert b"<x/>" in result
    assert b"the old face" not in result


@pytest.mark.parametrize("suffix", [".jpg", ".tif", ".webp", ".avif"])
def test_thumbnails_in_xmp_are_blanked(tmp_path: Path, suffix: str) -> None:
    source, output = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    before = b"<x:xmpmeta><xmpGImg:image>/9j/oldface==</xmpGImg:image><dc:title>Bild</dc:title></x:xmpmeta>"
    options = {"tiffinfo": {700: before}} if suffix == ".tif" else {"xmp": before}
    support.photograph().save(source, **options)
    assert b"oldface" in source.read_bytes()
    edit_file(source, output, RECT)
    result = output.read_bytes()
    assert b"oldface" not in result
    assert b"<dc:title>Bild</dc:title>" in result


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_grey_and_inverted_ink_jpegs_stay_what_they_are(tmp_path: Path, mode: str) -> None:
    source, output = tmp_path / "a.jpg", tmp_path / "b.jpg"
    support.picture(mode).resize((320, 240)).save(source, quality=90)
    edit_file(source, output, Rect(64, 64, 64, 64))
    with Image.open(source) as first, Image.open(output) as second:
        assert second.mode == mode
        assert second.info.get("adobe") == first.info.get("adobe")
        difference = np.asarray(second.convert("RGB")).astype(int) - np.asarray(first.convert("RGB"))
        bright = np.asarray(first.convert("RGB"))[64:128, 64:128] > 220
    assert difference[64:128, 64:128][~bright].mean() == pytest.approx(STEP, abs=2)
    assert np.abs(difference[outside(Rect(48, 48, 96, 96), 240, 320)]).mean() < 0.5


# --- PNG and palettes ---


def test_png_texts_density_and_private_chunks_are_carried(tmp_path: Path) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.png"
    support.photograph().save(source, dpi=(300, 300), exif=support.exif(1))
    data = source.read_bytes()
    extra = support.png_chunk(b"tEXt", b"Title\0Ein Bild") + support.png_chunk(b"prIv", b"unsafe")
    extra += support.png_chunk(b"saFe"[:3] + b"e", b"kept") + support.png_chunk(b"caBX", b"credentials")
    source.write_bytes(data[:33] + extra + data[33:])
    warnings = edit_file(source, output, RECT)
    result = output.read_bytes()
    assert [warning for warning in warnings if "credentials" in warning]
    assert b"Title\0Ein Bild" in result
    assert b"kept" in result
    assert b"caBX" not in result
    with Image.open(output) as image, Image.open(source) as original:
        assert image.info["dpi"] == original.info["dpi"]
        assert image.getexif()[0x010F] == "Lichtbild"


def test_a_full_palette_keeps_its_colours_and_gives_the_nearest(tmp_path: Path) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.png"
    support.photograph().quantize(256).save(source)
    edit_file(source, output, RECT)
    with Image.open(source) as first, Image.open(output) as second:
        assert second.getpalette() == first.getpalette()
    assert (shown(output) - shown(source))[RECT.slices].mean() == pytest.approx(STEP, abs=8)


def test_transparent_palette_entries_are_never_used_for_skin(tmp_path: Path) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.png"
    _transparent_palette(source)
    edit_file(source, output, RECT)
    with Image.open(source) as first, Image.open(output) as second:
        changed = np.asarray(first) != np.asarray(second)
        assert changed.any()
        assert (np.asarray(second.convert("RGBA"))[..., 3][changed] == 255).all()


# --- lossy formats that do not say their quality ---


@pytest.mark.parametrize("name", ["RGB.webp", "RGBA.webp", "RGB.avif", "RGBA.avif"])
def test_lossy_formats_are_written_visually_lossless(tmp_path: Path, name: str) -> None:
    source, output = tmp_path / name, tmp_path / f"out{Path(name).suffix}"
    image = support.photograph(320, 240)
    if "A" in Path(name).stem:
        image.putalpha(Image.fromarray(support.soft_alpha(320, 240)))
    image.save(source, quality=75, icc_profile=support.display_p3(), xmp=b"<x:xmpmeta/>")
    edit_file(source, output, Rect(64, 64, 64, 64))
    far = outside(Rect(32, 32, 128, 128), 240, 320)
    with Image.open(source) as first, Image.open(output) as second:
        assert second.mode == first.mode
        assert second.info["icc_profile"] == support.display_p3()
        assert second.info["xmp"] == b"<x:xmpmeta/>"
        before, after = np.asarray(first), np.asarray(second)
    assert psnr(before[far], after[far]) > 42


@pytest.mark.parametrize("depth", [10, 12])
def test_deep_avif_stays_deep(tmp_path: Path, depth: int) -> None:
    source, output = tmp_path / "a.avif", tmp_path / "b.avif"
    samples = (support.deep("RGB") >> (16 - depth))[..., ::-1]
    _, data = cv2.imencode(".avif", samples, [cv2.IMWRITE_AVIF_DEPTH, depth, cv2.IMWRITE_AVIF_QUALITY, 90])
    source.write_bytes(data.tobytes())
    edit_file(source, output, RECT)
    decoded = [cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED) for path in (source, output)]
    assert decoded[1].dtype == np.uint16
    assert ((1 << depth - 1) < decoded[1].max()) & (decoded[1].max() < 1 << depth)
    far = outside(Rect(16, 8, 64, 56))
    error = (decoded[0].astype(float) - decoded[1])[far] / ((1 << depth) - 1)
    assert np.sqrt(np.mean(error**2)) < 0.01
    assert len(np.unique(decoded[1])) > 256


# --- another format ---


def test_what_another_format_can_hold_is_carried(tmp_path: Path) -> None:
    source = tmp_path / "a.jpg"
    support.photograph().save(
        source, quality=95, exif=support.exif(6), icc_profile=support.display_p3(), xmp=b"<x:xmpmeta/>", dpi=(300, 300)
    )
    picture = read_picture(source)
    for suffix in (".png", ".tif", ".webp"):
        output = tmp_path / f"b{suffix}"
        assert write_picture(picture, output) == []
        with Image.open(output) as image:
            assert image.info["icc_profile"] == support.display_p3()
            assert image.getexif()[0x0112] == 6
            assert image.getexif().get_ifd(0x8769)[0x9003] == "2020:01:02 03:04:05"
            if suffix != ".webp":
                assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert shown(output).shape == (WIDTH, HEIGHT, 3)
        tolerance = 25 if suffix == ".webp" else 0
        assert np.abs(shown(output) - shown(source)).max() <= tolerance


@pytest.mark.parametrize(
    ("name", "suffix", "said"),
    [
        ("deep-RGB.png", ".jpg", ["16 bits"]),
        ("RGBA.png", ".jpg", ["transparency"]),
        ("transparent-P.png", ".bmp", ["transparency"]),
        ("CMYK-lzw.tif", ".png", ["inks"]),
        ("P.png", ".webp", []),
        ("LA.png", ".webp", []),
        ("1.png", ".jpg", []),
        ("deep-LA.png", ".tif", []),
    ],
)
def test_what_another_format_cannot_hold_is_said(tmp_path: Path, name: str, suffix: str, said: list[str]) -> None:
    source, output = tmp_path / name, tmp_path / f"b{suffix}"
    LOSSLESS[name](source)
    picture = read_picture(source)
    notes = write_picture(picture, output)
    assert len(notes) == len(said)
    for note, word in zip(notes, said, strict=True):
        assert word in note
    assert np.abs(shown(output) - shown(source)).mean() < 4


def test_ten_bits_become_sixteen_where_there_are_no_ten(tmp_path: Path) -> None:
    samples = (support.deep("RGB") >> 6)[..., ::-1]
    _, data = cv2.imencode(".avif", samples, [cv2.IMWRITE_AVIF_DEPTH, 10, cv2.IMWRITE_AVIF_QUALITY, 90])
    source, output = tmp_path / "a.avif", tmp_path / "b.png"
    source.write_bytes(data.tobytes())
    assert write_picture(read_picture(source), output) == []
    assert stored_pixels(output).max() > 60000
    assert np.abs(shown(output) - shown(source)).max() <= 1


def test_a_format_without_orientation_gets_the_picture_upright(tmp_path: Path) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.bmp"
    support.photograph().save(source, exif=support.exif(6), icc_profile=support.display_p3())
    notes = write_picture(read_picture(source), output)
    assert "no metadata" in notes[0]
    with Image.open(output) as image:
        assert image.size == (HEIGHT, WIDTH)
        assert np.abs(np.asarray(image).astype(int) - shown(source)).max() <= 1


def test_a_grey_profile_is_not_put_on_colours(tmp_path: Path) -> None:
    source, output = tmp_path / "a.png", tmp_path / "b.webp"
    support.picture("L").save(source, icc_profile=support.grey_profile(1.2))
    write_picture(read_picture(source), output)
    with Image.open(output) as image:
        assert "icc_profile" not in image.info
    assert psnr(shown(output), shown(source)) > 40


# --- any rectangle ---


@settings(max_examples=40, deadline=None)
@given(data=st.data(), name=st.sampled_from(["deep-RGB.png", "RGBA.png", "CMYK-deflate.tif", "LA.png", "L.bmp"]))
def test_any_edit_changes_its_rectangle_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, name: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    x, y = data.draw(st.integers(0, WIDTH - 1)), data.draw(st.integers(0, HEIGHT - 1))
    rect = Rect(x, y, data.draw(st.integers(1, WIDTH - x)), data.draw(st.integers(1, HEIGHT - y)))
    amount = data.draw(st.floats(-1, 1, width=32))
    source, output = folder / name, folder / f"out{Path(name).suffix}"
    LOSSLESS[name](source)
    edit_file(source, output, rect, lambda frame, area: brighten(frame, area, amount))
    mask = outside(rect)
    assert np.array_equal(stored_pixels(output)[mask], stored_pixels(source)[mask])


@pytest.mark.parametrize("name", ["RGB.png", "deep-RGB.png", "L.bmp", "CMYK-lzw.tif", "P.png"])
def test_a_small_view_is_the_large_one_shrunk(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    LOSSLESS[name](source)
    picture = read_picture(source)
    small = picture.display(max_side=24)
    assert small.shape == (18, 24, 3)
    large = cv2.resize(picture.display(), (24, 18), interpolation=cv2.INTER_AREA)
    assert np.abs(small.astype(int) - large).max() <= 2
    part = picture.display(RECT)
    assert np.array_equal(part, picture.display()[RECT.slices])


# --- names and bad files ---


@pytest.mark.parametrize("name", ["目标.png", "mit Leer zeichen.jpg", "ü ñ í.tif", "视频.webp", "q'uote.bmp"])
def test_any_path_works(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "üñí 视频 x"
    folder.mkdir()
    support.photograph().save(folder / name)
    output = folder / f"aus {name}"
    edit_file(folder / name, output, RECT)
    assert (shown(output) - shown(folder / name))[RECT.slices].mean() > 15
    assert sorted(path.name for path in folder.iterdir()) == sorted([name, output.name])


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".webp", ".bmp", ".avif"])
def test_a_wrong_ending_does_not_matter_and_a_cut_file_is_named(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / f"a{suffix}"
    support.photograph(256, 192).save(source)
    data = source.read_bytes()
    (tmp_path / "wrong.mp4").write_bytes(data)
    assert read_picture(tmp_path / "wrong.mp4").still.format == read_picture(source).still.format
    cut = tmp_path / f"cut{suffix}"
    cut.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(UnreadableError, match=f"cut{suffix} is (cut short|damaged)"):
        read_picture(cut)


def test_what_is_no_picture_is_said(tmp_path: Path) -> None:
    empty, text = tmp_path / "empty.png", tmp_path / "text.jpg"
    empty.touch()
    text.write_text("no picture at all, but long enough to be taken for one")
    for path, reason in [
        (tmp_path / "missing.png", "does not exist"),
        (tmp_path, "is a directory"),
        (empty, "is empty"),
        (text, "is not a picture"),
    ]:
        with pytest.raises(UnreadableError, match=reason):
            read_picture(path)
        with pytest.raises(UnreadableError, match=path.name):
            read_rgb(path)


@settings(max_examples=80, deadline=None)
@given(
    name=st.sampled_from(["RGB.png", "P.png", "RGBA.webp", "CMYK-lzw.tif", "deep-RGB-5.tif", "P.bmp", "RGB.jpg"]),
    changes=st.lists(st.tuples(st.integers(8, 600), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_damage_is_an_error_of_ours_or_a_picture(
    tmp_path_factory: pytest.TempPathFactory, name: str, changes: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    source = folder / name
    make = LOSSLESS.get(name, _pillow("RGB", exif=support.exif(6), icc_profile=support.display_p3()))
    make(source)
    data = bytearray(source.read_bytes())
    for offset, value in changes:
        data[offset] = value
    source.write_bytes(data)
    with suppress(MediaError):
        picture = read_picture(source)
        assert picture.display(max_side=16).dtype == np.uint8
        write_picture(picture, folder / f"out{source.suffix}")


def test_a_picture_too_large_to_be_one_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "bomb.png"
    support.write_deep_png(source, support.deep("L"))
    data = bytearray(source.read_bytes())
    data[16:33] = support.png_chunk(b"IHDR", (60000).to_bytes(4, "big") * 2 + bytes(data[24:29]))[8:]
    source.write_bytes(data)
    with pytest.raises(UnreadableError, match=r"bomb\.png .* pixels"):
        read_picture(source)


def test_samples_that_cannot_be_edited_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "float.tif"
    Image.fromarray(np.zeros((8, 8), np.float32)).save(source)
    with pytest.raises(UnsupportedMediaError, match=r"float\.tif"):
        read_picture(source)


def test_sixteen_bit_planes_are_refused_rather_than_misread(tmp_path: Path) -> None:
    source = tmp_path / "planar.tif"
    samples = support.deep("RGB")
    numbers = {
        tiff.BITS: [16, 16, 16],
        tiff.COMPRESSION: [1],
        tiff.PHOTOMETRIC: [2],
        tiff.SAMPLES: [3],
        tiff.PLANAR: [2],
    }
    fields = {tag: tiff.shorts("<", *values) for tag, values in numbers.items()}
    for tag, value in ((tiff.WIDTH, WIDTH), (tiff.HEIGHT, HEIGHT), (tiff.ROWS_PER_STRIP, HEIGHT)):
        fields[tag] = tiff.longs("<", value)
    source.write_bytes(tiff.write("<", fields, [samples[..., channel].tobytes() for channel in range(3)]))
    with pytest.raises(UnsupportedMediaError, match=r"planar\.tif .*interleaved"):
        read_picture(source)


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "a.png"
    support.photograph().save(source)
    picture = read_picture(source)
    with pytest.raises(UnsupportedMediaError, match=r"\.xyz"):
        write_picture(picture, tmp_path / "b.xyz")
    Image.new("RGB", (16384, 1)).save(tmp_path / "wide.png")
    with pytest.raises(UnsupportedMediaError, match="16383"):
        write_picture(read_picture(tmp_path / "wide.png"), tmp_path / "b.webp")
    with pytest.raises(UnwritableError, match="does not exist"):
        write_picture(picture, tmp_path / "nowhere" / "b.png")
    (tmp_path / "b.png").mkdir()
    with pytest.raises(UnwritableError, match=r"b\.png"):
        write_picture(picture, tmp_path / "b.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png", "wide.png"]


# --- HEIC ---


def test_heic_without_its_extra_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.heic"
    source.write_bytes(b"\0\0\0\x1cftypheic\0\0\0\0mif1heicmiaf" + bytes(100))
    monkeypatch.setitem(__import__("sys").modules, "pillow_heif", None)
    with pytest.raises(UnsupportedMediaError, match=r"a\.heic.*mien\[heic\]"):
        read_picture(source)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "RGB;16"])
@pytest.mark.parametrize("orientation", [1, 6])
def test_heic_keeps_depth_alpha_orientation_and_metadata(tmp_path: Path, mode: str, orientation: int) -> None:
    heif = pytest.importorskip("pillow_heif")
    source, output = tmp_path / "a.heic", tmp_path / "b.heic"
    pixels = support.deep("RGB") if mode == "RGB;16" else np.asarray(support.picture(mode))
    heif.encode(
        mode, (WIDTH, HEIGHT), pixels.tobytes(), source, quality=90, exif=support.exif(orientation), xmp=b"<x:xmpmeta/>"
    )
    edit_file(source, output, RECT)
    first, second = (heif.open_heif(path, convert_hdr_to_8bit=False) for path in (source, output))
    assert (second.mode, second.size, second.info["bit_depth"]) == (first.mode, first.size, first.info["bit_depth"])
    assert second.info["exif"] == first.info["exif"]
    assert second.info["xmp"] == b"<x:xmpmeta/>"
    difference = shown(output) - shown(source)
    assert np.abs(difference[outside(Rect(14, 4, 65, 57), *difference.shape[:2])]).mean() < 2
