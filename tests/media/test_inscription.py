"""What a result says beside its picture: in every format, once, and without touching anything else."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image, ImageSequence
from PIL.PngImagePlugin import PngInfo

from mien.errors import UnsupportedMediaError
from mien.media.animation import AnimationSource, AnimationWriter
from mien.media.description import read_description
from mien.media.encoding import choose_encoding
from mien.media.inscription import Inscription
from mien.media.pictures import read_picture, write_picture
from mien.media.segments import SegmentWriter, join
from mien.media.video import VideoSource
from support.pictures import photograph
from support.video import clip, ffprobe

SAID = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>'


def added(packet: bytes | None) -> bytes:
    return (packet or b"") + SAID


def save(path: Path, xmp: bytes) -> None:
    """A picture with this XMP, none if empty, by Pillow."""
    chunks = PngInfo()
    if xmp:
        chunks.add_itxt("XML:com.adobe.xmp", xmp.decode())
    own = {".png": {"pnginfo": chunks}, ".tif": {"tiffinfo": {700: xmp} if xmp else {}}}
    photograph().save(path, **own.get(path.suffix, {"xmp": xmp} if xmp else {}))


class TestPictures:
    @pytest.mark.parametrize("before", [b"", b"<before/>"])
    @pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif", "avif"])
    def test_xmp_is_extended(self, tmp_path: Path, suffix: str, before: bytes) -> None:
        path, out = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
        save(path, before)
        assert write_picture(read_picture(path), out, Inscription(xmp=added)) == []
        assert read_description(out).xmp == before + SAID
        with Image.open(out) as image:
            assert image.info["xmp"] == before + SAID
        assert out.read_bytes().count(SAID) == 1

    @pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif", "avif"])
    def test_xmp_goes_along_to_another_format(self, tmp_path: Path, suffix: str) -> None:
        save(tmp_path / "in.png", b"<before/>")
        write_picture(read_picture(tmp_path / "in.png"), tmp_path / f"out.{suffix}", Inscription(xmp=added))
        assert read_description(tmp_path / f"out.{suffix}").xmp == b"<before/>" + SAID

    def test_pixels_are_the_same_with_it(self, tmp_path: Path) -> None:
        for suffix in ("jpg", "png", "tif"):
            photograph().save(tmp_path / f"in.{suffix}")
            picture = read_picture(tmp_path / f"in.{suffix}")
            write_picture(picture, tmp_path / f"plain.{suffix}")
            write_picture(picture, tmp_path / f"said.{suffix}", Inscription(xmp=added))
            with Image.open(tmp_path / f"plain.{suffix}") as plain, Image.open(tmp_path / f"said.{suffix}") as said:
                np.testing.assert_array_equal(np.asarray(plain), np.asarray(said))

    def test_what_a_jpeg_cannot_hold_is_refused_and_nothing_is_left(self, tmp_path: Path) -> None:
        photograph().save(tmp_path / "in.jpg")
        with pytest.raises(UnsupportedMediaError, match=r"out\.jpg cannot hold more metadata .*: write PNG or TIFF"):
            write_picture(
                read_picture(tmp_path / "in.jpg"), tmp_path / "out.jpg", Inscription(xmp=lambda _: bytes(65505))
            )
        assert [path.name for path in tmp_path.iterdir()] == ["in.jpg"]

    def test_the_last_step_sees_the_whole_file_before_it_has_its_name(self, tmp_path: Path) -> None:
        photograph().save(tmp_path / "in.png")

        def finish(path: Path) -> None:
            assert not (tmp_path / "out.png").exists()
            path.write_bytes(path.read_bytes() + b"end")

        write_picture(read_picture(tmp_path / "in.png"), tmp_path / "out.png", Inscription(finish=finish))
        assert (tmp_path / "out.png").read_bytes().endswith(b"end")

    def test_a_last_step_that_fails_leaves_no_file(self, tmp_path: Path) -> None:
        photograph().save(tmp_path / "in.png")

        def fail(_path: Path) -> None:
            raise UnsupportedMediaError("no")

        with pytest.raises(UnsupportedMediaError):
            write_picture(read_picture(tmp_path / "in.png"), tmp_path / "out.png", Inscription(finish=fail))
        assert [path.name for path in tmp_path.iterdir()] == ["in.png"]


@pytest.mark.parametrize("suffix", ["gif", "png", "webp"])
class TestAnimations:
    def write(self, folder: Path, suffix: str, source: Path, inscription: Inscription) -> Path:
        out = folder / f"out.{suffix}"
        with AnimationSource(source) as animation, AnimationWriter(out, animation, inscription) as writer:
            for frame in animation.frames():
                writer.write(frame)
        return out

    def make(self, folder: Path, suffix: str) -> Path:
        frames = [photograph().rotate(10 * number) for number in range(3)]
        frames[0].save(folder / f"in.{suffix}", save_all=True, append_images=frames[1:], duration=100, loop=0)
        return folder / f"in.{suffix}"

    def test_xmp_is_extended_and_others_read_the_file(self, tmp_path: Path, suffix: str) -> None:
        first = self.write(tmp_path, suffix, self.make(tmp_path, suffix), Inscription(xmp=added))
        assert read_description(first).xmp == SAID
        (tmp_path / "again").mkdir()
        again = self.write(tmp_path / "again", suffix, first, Inscription(xmp=added))
        assert read_description(again).xmp == SAID + SAID
        with Image.open(again) as image:
            assert len([frame.copy() for frame in ImageSequence.Iterator(image)]) == 3
        if suffix != "webp":  # which FFmpeg reads as a still
            with av.open(str(again)) as container:
                assert len(list(container.decode(video=0))) == 3

    def test_the_last_step_comes_when_the_file_is_whole(self, tmp_path: Path, suffix: str) -> None:
        sizes: list[int] = []
        out = self.write(
            tmp_path,
            suffix,
            self.make(tmp_path, suffix),
            Inscription(finish=lambda path: sizes.append(path.stat().st_size)),
        )
        assert sizes == [out.stat().st_size]


@pytest.mark.parametrize("suffix", ["mp4", "mov", "mkv", "webm"])
def test_a_video_has_its_own_tags_and_the_new_ones(tmp_path: Path, suffix: str) -> None:
    path = clip(tmp_path / "in.mp4", "-metadata", "title=What it was", "-metadata", "AIGC=old", seconds=0.2)
    with VideoSource(path) as source:
        codec, preset = ("vp8", "8") if suffix == "webm" else ("h264", "ultrafast")
        encoding = choose_encoding(source.info, f".{suffix}", codec=codec, preset=preset)
        with SegmentWriter(tmp_path / "0.packets", source, encoding) as writer:
            for frame in source.frames():
                writer.write(frame)
        seen: list[bool] = []
        out = tmp_path / f"out.{suffix}"
        inscription = Inscription(tags={"AIGC": '{"Label":"1"}'}, finish=lambda part: seen.append(part.exists()))
        join(source, [tmp_path / "0.packets"], out, inscription=inscription)
    tags = {name.upper(): text for name, text in ffprobe(out, "-show_format")["format"]["tags"].items()}
    assert tags["AIGC"] == '{"Label":"1"}'
    assert tags["TITLE"] == "What it was"
    assert seen == [True]
