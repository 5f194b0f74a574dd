"""What is found of a file's marks, and what is said of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mien.media.inscription import Inscription
from mien.media.pictures import read_picture, write_picture
from mien.pipeline.api import Runner
from mien.trust.aigc import Aigc
from mien.trust.certificates import own_signer
from mien.trust.places import trust_folder
from mien.trust.verify import Finding, verify
from mien.trust.xmp import with_aigc
from support import jobs
from support.marked import Made, packet_place, with_byte_changed
from support.video import ffmpeg


@pytest.fixture(scope="module")
def whole(runner: Runner, targets: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    """Results with every mark."""
    folder = tmp_path_factory.mktemp("whole")
    results: dict[str, Made] = {}
    for suffix in ("jpg", "png", "mp4"):
        target, output = targets / f"target.{suffix}", folder / f"result.{suffix}"
        results[suffix] = Made(target, output, runner.run(jobs.job(target, output, marks="all")))
    return results


def findings(path: Path, folder: Path | None = None) -> dict[str, Finding]:
    return {finding.mark: finding for finding in verify(path, folder or trust_folder())}


def states(path: Path) -> tuple[str, str, str]:
    metadata, credentials, watermark = verify(path, trust_folder())
    return metadata.state, credentials.state, watermark.state


@pytest.mark.parametrize("suffix", ["jpg", "png", "mp4"])
class TestAllMarks:
    def test_they_are_found_and_agree(self, whole: dict[str, Made], suffix: str) -> None:
        assert states(whole[suffix].path) == ("ok", "ok", "ok")

    def test_the_watermark_leads_to_the_job(self, whole: dict[str, Made], suffix: str) -> None:
        marks = whole[suffix].report.marks
        found = findings(whole[suffix].path)["watermark"]
        assert found.facts["id"] == marks.watermark
        assert any(f"number {marks.produce_id}" in words for words in found.words)

    def test_another_installation_knows_neither_signer_nor_job(
        self, whole: dict[str, Made], suffix: str, tmp_path: Path
    ) -> None:
        found = findings(whole[suffix].path, tmp_path)
        assert found["content credentials"].state == "ok"
        assert "who is not known here" in " ".join(found["content credentials"].words)
        assert "no record of it" in " ".join(found["watermark"].words)

    def test_whoever_trusts_the_issuer_knows_the_signer(
        self, whole: dict[str, Made], suffix: str, tmp_path: Path
    ) -> None:
        anchor = own_signer(trust_folder()).anchor
        _, credentials, _ = verify(whole[suffix].path, tmp_path, [anchor])
        assert credentials.facts["state"] == "trusted"

    def test_the_credentials_name_the_watermark(self, whole: dict[str, Made], suffix: str) -> None:
        found = findings(whole[suffix].path)
        assert found["content credentials"].facts["watermark"] == found["watermark"].facts["id"]


class TestChanges:
    def test_a_picture_that_was_saved_again_has_its_watermark_left(
        self, whole: dict[str, Made], tmp_path: Path
    ) -> None:
        with Image.open(whole["png"].path) as image:
            image.convert("RGB").save(tmp_path / "again.jpg", quality=85)
        assert states(tmp_path / "again.jpg") == ("missing", "missing", "ok")

    def test_a_video_that_was_copied_to_another_file(self, whole: dict[str, Made], tmp_path: Path) -> None:
        ffmpeg("-i", whole["mp4"].path, "-c", "copy", "-map_metadata", "-1", tmp_path / "again.mp4")
        assert states(tmp_path / "again.mp4") == ("missing", "missing", "ok")

    def test_a_changed_packet_is_told_from_changed_statements(self, whole: dict[str, Made], tmp_path: Path) -> None:
        path = whole["mp4"].path
        changed = with_byte_changed(path, packet_place(path, -1), tmp_path / "changed.mp4")
        found = findings(changed)["content credentials"]
        assert found.state == "broken"
        assert "pictures, sound or metadata were changed after signing" in found.words
        statement = path.read_bytes().find(b"softwareAgent")
        found = findings(with_byte_changed(path, statement + 2, tmp_path / "statement.mp4"))["content credentials"]
        assert found.state == "broken"
        assert "pictures, sound or metadata were changed after signing" not in found.words

    def test_credentials_that_are_damaged(self, whole: dict[str, Made], tmp_path: Path) -> None:
        data = whole["jpg"].path.read_bytes()
        at = data.find(b"jumb")
        (tmp_path / "damaged.jpg").write_bytes(data[: at + 40] + bytes(200) + data[at + 240 :])
        assert findings(tmp_path / "damaged.jpg")["content credentials"].state == "broken"

    def test_metadata_of_another_result_is_found_out(self, whole: dict[str, Made], tmp_path: Path) -> None:
        """Even where whoever put it there left the credentials as they were."""
        path = whole["jpg"].path
        number = (whole["jpg"].report.marks.produce_id or "").encode()
        data = path.read_bytes()
        at = data.index(number)
        (tmp_path / "other.jpg").write_bytes(data[:at] + b"0" * len(number) + data[at + len(number) :])
        found = findings(tmp_path / "other.jpg")
        assert found["AI-content metadata"].state == "broken"
        assert "the object was replaced" in " ".join(found["AI-content metadata"].words)
        assert found["content credentials"].state == "broken"

    def test_pixels_of_another_result_under_valid_credentials(
        self, runner: Runner, whole: dict[str, Made], tmp_path: Path
    ) -> None:
        """A result that is swapped again carries the watermark of both; its credentials name the last."""
        report = runner.run(jobs.job(whole["png"].path, tmp_path / "second.png", marks="metadata"))
        found = findings(tmp_path / "second.png")
        assert found["content credentials"].state == "ok"
        assert found["watermark"].facts["id"] == whole["png"].report.marks.watermark
        assert report.marks.watermark is None


class TestOfOthers:
    def test_a_picture_of_nobody_has_no_marks(self, targets: Path) -> None:
        for suffix in ("jpg", "mp4"):
            assert states(targets / f"target.{suffix}") == ("missing", "missing", "missing")

    @pytest.mark.parametrize("wrapped", [False, True])
    @pytest.mark.parametrize("place", ["text", "comment", "XMP"])
    def test_every_place_of_a_picture_is_read(self, targets: Path, tmp_path: Path, place: str, wrapped: bool) -> None:
        bare = Aigc.made_by("Other", "77").to_json()
        text = json.dumps({"AIGC": json.loads(bare)}) if wrapped else bare
        path = tmp_path / "other.png"
        with Image.open(targets / "target.png") as image:
            if place == "text":
                info = PngInfo()
                info.add_text("AIGC", text)
                image.save(path, pnginfo=info)
            elif place == "comment":
                exif = Image.Exif()
                exif[0x0131] = "by whom"
                exif.get_ifd(0x8769)[0x9286] = b"ASCII\0\0\0" + json.dumps({"AIGC": json.loads(bare)}).encode()
                image.save(path, exif=exif)
        if place == "XMP":
            picture = read_picture(targets / "target.png")
            write_picture(picture, path, Inscription(xmp=lambda packet: with_aigc(packet, text)))
        found = findings(path)["AI-content metadata"]
        assert (found.state, found.facts["producer"], found.facts["produce_id"]) == ("ok", "Other", "77")

    def test_a_broken_object_is_said(self, targets: Path, tmp_path: Path) -> None:
        ffmpeg("-i", targets / "target.mkv", "-c", "copy", "-metadata", 'AIGC={"Label":"1"}', tmp_path / "broken.mkv")
        found = findings(tmp_path / "broken.mkv")["AI-content metadata"]
        assert found.state == "broken"
        assert "lacks ContentProducer" in found.words[0]

    def test_a_name_says_nothing(self, whole: dict[str, Made], tmp_path: Path) -> None:
        shutil.copy(whole["png"].path, tmp_path / "result.jpg")
        assert states(tmp_path / "result.jpg") == ("ok", "ok", "ok")


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        ("bmp", ("impossible", "impossible", "missing")),
        ("mkv", ("ok", "impossible", "missing")),
        ("avi", ("impossible", "ok", "missing")),
        ("gif", ("ok", "ok", "impossible")),
    ],
)
def test_what_a_file_has_no_place_for_is_no_fault(
    made: dict[str, Made], suffix: str, expected: tuple[str, ...]
) -> None:
    assert states(made[suffix].path) == expected
