"""Results of real jobs carry marks that others can read, and whoever changes a byte breaks the signature."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from PIL import Image, ImageSequence

import mien
from mien.errors import Interrupted, UsageError
from mien.models.catalogue import find_model
from mien.pipeline.api import Runner
from mien.report import Marks
from mien.trust.aigc import parse
from mien.trust.certificates import own_signer
from mien.trust.claim import ACTIONS, EDIT_ASSERTION, SYNTHETIC
from mien.trust.label import make_label
from mien.trust.ledger import MARKED, find_results
from mien.trust.places import TRUST_VARIABLE, trust_folder
from mien.trust.watermark import detect
from mien.trust.watermark.ids import to_text
from support import jobs
from support.marked import (
    PICTURES,
    VIDEOS,
    Made,
    active,
    assertion,
    failures,
    manifest_store,
    packet_place,
    with_byte_changed,
)
from support.video import ffmpeg, ffprobe

SIGNED = (*PICTURES, *VIDEOS, "gif", "avi")


@pytest.mark.parametrize("suffix", SIGNED)
class TestCredentials:
    def test_they_are_valid_and_trusted_by_whoever_knows_the_issuer(self, made: dict[str, Made], suffix: str) -> None:
        store = manifest_store(made[suffix].path)
        assert store["validation_state"] == "Valid"
        assert failures(store) == {"signingCredential.untrusted"}
        anchor = own_signer(trust_folder()).anchor
        assert manifest_store(made[suffix].path, anchor)["validation_state"] == "Trusted"

    def test_they_say_what_was_done(self, made: dict[str, Made], suffix: str) -> None:
        manifest = active(manifest_store(made[suffix].path))
        opened, edited = assertion(manifest, ACTIONS)["actions"]
        assert opened["action"] == "c2pa.opened"
        assert edited["action"] == "c2pa.edited"
        assert edited["digitalSourceType"] == SYNTHETIC
        assert edited["softwareAgent"] == {"name": "mien", "version": mien.__version__}
        (ingredient,) = manifest["ingredients"]
        assert ingredient["relationship"] == "parentOf"

    def test_they_name_the_networks_with_version_and_licence(self, made: dict[str, Made], suffix: str) -> None:
        edit = assertion(active(manifest_store(made[suffix].path)), EDIT_ASSERTION)
        assert edit["produceId"] == made[suffix].report.marks.produce_id
        entry = find_model("face_mesh_478")
        assert {"id": entry.id, "version": entry.sha256, "licence": entry.licence} in edit["models"]

    def test_the_report_says_who_signed(self, made: dict[str, Made], suffix: str) -> None:
        marks = made[suffix].report.marks
        assert (marks.asked, marks.own_signer) == ("metadata", True)
        assert marks.signer == active(manifest_store(made[suffix].path))["signature_info"]["issuer"]


def middle_of_picture(path: Path) -> int:
    """A byte of the coded pixels: these are the largest part of a file, and stand at the end of it or in its middle."""
    return len(path.read_bytes()) // 2


@pytest.mark.parametrize("suffix", PICTURES)
def test_a_changed_byte_of_a_picture_breaks_the_signature(made: dict[str, Made], suffix: str, tmp_path: Path) -> None:
    path = made[suffix].path
    changed = with_byte_changed(path, middle_of_picture(path), tmp_path / path.name)
    store = manifest_store(changed)
    assert store["validation_state"] == "Invalid"
    assert "assertion.dataHash.mismatch" in failures(store)


@pytest.mark.parametrize("number", [0, 5, -1])
@pytest.mark.parametrize("suffix", VIDEOS)
def test_a_changed_packet_of_a_video_breaks_the_signature(
    made: dict[str, Made], suffix: str, number: int, tmp_path: Path
) -> None:
    path = made[suffix].path
    store = manifest_store(with_byte_changed(path, packet_place(path, number), tmp_path / path.name))
    assert store["validation_state"] == "Invalid"
    assert "assertion.bmffHash.mismatch" in failures(store)


class TestMetadata:
    """The AI-content object, by readers that are not ours."""

    @pytest.mark.parametrize("suffix", [*VIDEOS, "mkv"])
    def test_ffprobe_finds_it_in_videos(self, made: dict[str, Made], suffix: str) -> None:
        tags = ffprobe(made[suffix].path, "-show_format")["format"]["tags"]
        self.check(json.loads(tags["AIGC"]), made[suffix])

    @pytest.mark.parametrize("suffix", PICTURES)
    def test_pillow_finds_it_in_pictures(self, made: dict[str, Made], suffix: str) -> None:
        with Image.open(made[suffix].path) as image:
            description = image.getxmp()["xmpmeta"]["RDF"]["Description"]
        self.check(json.loads(description["AIGC"]), made[suffix])

    def test_a_gif_carries_it_and_is_read_by_others_as_before(self, made: dict[str, Made]) -> None:
        assert b"http://www.tc260.org.cn/ns/AIGC/1.0/" in made["gif"].path.read_bytes()
        with Image.open(made["gif"].path) as image, Image.open(made["gif"].target) as target:
            assert len(list(ImageSequence.Iterator(image))) == 1
            assert image.size == target.size

    def check(self, fields: Mapping[str, str], made: Made) -> None:
        assert len(fields) == 7
        assert fields["Label"] == "1"
        assert fields["ContentProducer"] == "Test Studio"
        assert fields["ProduceID"] == made.report.marks.produce_id


@pytest.mark.parametrize(
    ("suffix", "missing"),
    [
        ("bmp", ["AI-content metadata", "content credentials"]),
        ("mkv", ["content credentials"]),
        ("avi", ["AI-content metadata"]),
        ("jpg", []),
        ("mp4", []),
        ("gif", []),
    ],
)
def test_what_a_file_cannot_carry_is_said(made: dict[str, Made], suffix: str, missing: list[str]) -> None:
    warnings = [warning for warning in made[suffix].report.warnings if "has no place for" in warning]
    assert len(warnings) == len(missing)
    assert all(what in warning for what, warning in zip(missing, warnings, strict=True))


class TestOfTheTarget:
    def test_its_credentials_are_kept_as_an_ingredient(
        self, runner: Runner, made: dict[str, Made], tmp_path: Path
    ) -> None:
        before = made["png"].path
        report = runner.run(jobs.job(before, tmp_path / "out.jpg", marks="metadata"))
        store = manifest_store(tmp_path / "out.jpg")
        (ingredient,) = active(store)["ingredients"]
        assert ingredient["active_manifest"] == manifest_store(before)["active_manifest"]
        assert len(store["manifests"]) == 2
        assert store["validation_state"] == "Valid"
        assert not report.warnings

    @pytest.mark.parametrize("suffix", ["png", "mp4"])
    def test_its_own_object_is_kept_in_the_credentials(
        self, runner: Runner, made: dict[str, Made], tmp_path: Path, suffix: str
    ) -> None:
        output = tmp_path / f"out.{suffix}"
        runner.run(jobs.job(made[suffix].path, output, marks="metadata", producer="Second"))
        before = parse(assertion(active(manifest_store(output)), EDIT_ASSERTION)["targetAigc"])
        assert (before.producer, before.produce_id) == ("Test Studio", made[suffix].report.marks.produce_id)

    def test_without_marks_they_are_left_out_and_that_is_said(
        self, runner: Runner, made: dict[str, Made], tmp_path: Path
    ) -> None:
        for suffix in ("jpg", "tif"):
            report = runner.run(jobs.job(made[suffix].path, tmp_path / f"out.{suffix}", marks="none"))
            assert b"c2pa.claim" not in (tmp_path / f"out.{suffix}").read_bytes()
            assert any("credentials of the target are left out" in warning for warning in report.warnings)

    def test_its_xmp_is_kept(self, runner: Runner, tmp_path: Path) -> None:
        said = (
            b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            b'<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:source>here</dc:source>'
            b"</rdf:Description></rdf:RDF></x:xmpmeta>"
        )
        with Image.open(jobs.HOPPER) as image:
            image.thumbnail((320, 320))
            image.save(tmp_path / "in.jpg", xmp=said)
        runner.run(jobs.job(tmp_path / "in.jpg", tmp_path / "out.jpg", marks="metadata"))
        with Image.open(tmp_path / "out.jpg") as image:
            first, second = image.getxmp()["xmpmeta"]["RDF"]["Description"]
        assert first["source"] == "here"
        assert parse(second["AIGC"]).producer == "mien"

    def test_xmp_that_cannot_be_read_is_replaced_and_that_is_said(self, runner: Runner, tmp_path: Path) -> None:
        with Image.open(jobs.HOPPER) as image:
            image.thumbnail((320, 320))
            image.save(tmp_path / "in.png")
            image.save(tmp_path / "in.jpg", xmp=b"<broken")
        report = runner.run(jobs.job(tmp_path / "in.jpg", tmp_path / "out.jpg", marks="metadata"))
        assert any("XMP cannot be read" in warning for warning in report.warnings)
        assert manifest_store(tmp_path / "out.jpg")["validation_state"] == "Valid"


def test_a_user_signs_with_a_certificate_of_their_own(runner: Runner, targets: Path, tmp_path: Path) -> None:
    signer = own_signer(tmp_path / "studio")
    key = load_pem_private_key(signer.key, None)
    (tmp_path / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "chain.pem").write_bytes(signer.chain)
    own = {"certificate": str(tmp_path / "chain.pem"), "private_key": str(tmp_path / "key.pem")}
    report = runner.run(jobs.job(targets / "target.jpg", tmp_path / "out.jpg", marks="metadata", **own))
    assert (report.marks.signer, report.marks.own_signer) == (signer.name, False)
    assert manifest_store(tmp_path / "out.jpg", signer.anchor)["validation_state"] == "Trusted"


def test_a_certificate_that_cannot_be_used_stops_the_job_before_any_work(
    runner: Runner, targets: Path, tmp_path: Path
) -> None:
    (tmp_path / "c.pem").write_text("nothing")
    own = {"certificate": str(tmp_path / "c.pem"), "private_key": str(tmp_path / "c.pem")}
    with pytest.raises(UsageError, match="holds no certificate"):
        runner.run(jobs.job(targets / "target.jpg", tmp_path / "out.jpg", marks="metadata", **own))
    assert not (tmp_path / "out.jpg").exists()


def test_marks_none_leaves_no_mark(runner: Runner, targets: Path, tmp_path: Path) -> None:
    for suffix in ("jpg", "mp4"):
        output = tmp_path / f"out.{suffix}"
        report = runner.run(jobs.job(targets / f"target.{suffix}", output, marks="none"))
        data = output.read_bytes()
        assert b"AIGC" not in data
        assert b"c2pa" not in data
        assert report.marks.metadata is report.marks.signer is report.marks.watermark is None


def test_nothing_but_the_signature_differs_between_two_runs(runner: Runner, targets: Path, tmp_path: Path) -> None:
    for name in ("one.mp4", "two.mp4"):
        runner.run(jobs.job(targets / "target.mp4", tmp_path / name, marks="metadata", label="en"))
    assert jobs.packets(tmp_path / "one.mp4") == jobs.packets(tmp_path / "two.mp4")


def test_no_unsigned_or_half_written_file_is_left(made: dict[str, Made]) -> None:
    for one in made.values():
        assert not [path.name for path in one.path.parent.iterdir() if path.name.startswith(".")]


def test_a_run_that_goes_on_makes_the_same_packets(runner: Runner, targets: Path, tmp_path: Path) -> None:
    """The watermark of all segments is one, whoever makes them and when."""
    target = tmp_path / "in.mp4"
    ffmpeg("-itsscale", "6", "-i", targets / "target.mp4", "-an", "-c", "copy", target)
    options = {"segment_seconds": 1, "label": "zh", "marks": "all", "preset": "ultrafast"}
    whole = runner.run(jobs.job(target, tmp_path / "whole.mp4", **options))
    recipe = jobs.job(target, tmp_path / "parts.mp4", **options)
    finished = tmp_path / ".parts.mp4.mien" / "0000.packets"
    with pytest.raises(Interrupted):
        runner.run(recipe, cancelled=finished.exists)
    parts = runner.run(dataclasses.replace(recipe, resume=True))
    assert parts.segments > parts.segments_reused > 0
    assert jobs.packets(tmp_path / "parts.mp4") == jobs.packets(tmp_path / "whole.mp4")
    assert parts.marks.watermark == whole.marks.watermark
    assert parts.marks.produce_id == whole.marks.produce_id


def test_a_target_that_is_copied_gets_no_mark(runner: Runner, tmp_path: Path) -> None:
    jobs.landscape(tmp_path / "in.png")
    recipe = jobs.job(tmp_path / "in.png", tmp_path / "out.png", marks="all", label="en", allow_no_face=True)
    marks = runner.run(recipe).marks
    assert (tmp_path / "out.png").read_bytes() == (tmp_path / "in.png").read_bytes()
    assert marks == Marks("all")


def test_a_stream_carries_label_and_watermark(targets: Path) -> None:
    picture = jobs.rgb(targets / "target.png")
    with mien.Swapper(jobs.ASTRONAUT, label="en") as swapper:
        frames = [swapper.frame(picture) for _ in range(3)]
    found = detect(frames)
    assert found.present
    assert found.mark_id is not None
    assert [entry.event for entry in find_results(trust_folder(), watermark=to_text(found.mark_id))] == [MARKED]
    label = make_label("en", picture.shape[1], picture.shape[0])
    assert frames[-1][label.rect.slices][label.ink[..., 0] > 0.99].mean() > 240
    with mien.Swapper(jobs.ASTRONAUT, marks="none") as swapper:
        assert (swapper.frame(picture)[:10] == picture[:10]).all()


def test_an_installation_that_can_keep_nothing_signs_all_the_same_and_says_so(
    targets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(TRUST_VARIABLE, str(tmp_path / "file" / "trust"))
    with Runner() as runner:
        report = runner.run(jobs.job(targets / "target.jpg", tmp_path / "out.jpg", marks="metadata"))
    assert manifest_store(tmp_path / "out.jpg")["validation_state"] == "Valid"
    assert any("a certificate that nobody will know again" in warning for warning in report.warnings)
    assert any("will not lead back to it" in warning for warning in report.warnings)
