"""Detectors, landmarkers and recogniser of the field in whole jobs: networks whose outputs encode a known face."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.cli import main
from mien.errors import NoFaceError, UsageError
from mien.models.families.landmark_sets import five_of_68, five_of_mesh
from mien.models.families.templates import FFHQ_512
from mien.pipeline.api import Runner
from support import contract_networks as networks
from support import field, jobs, reference
from support.contract_networks import Planted

TARGET = jobs.rgb(jobs.HOPPER)
HEIGHT, WIDTH = TARGET.shape[:2]
FACE = jobs.faces_in(TARGET)[0]
SHIFT = np.array([9.0, -6.0])
"""Pixels by which the landmarkers move the face."""


def planted() -> Planted:
    """The known face in a detector's view."""
    zoom = min(640 / max(HEIGHT, WIDTH), 1)
    points = five_of_mesh(FACE.landmarks) * zoom
    return Planted(tuple(FACE.box * zoom), tuple(map(tuple, points)), 0.9)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = field.write_networks(tmp_path_factory.mktemp("faces") / "models")
    networks.retinaface(folder / "retinaface_10g.onnx", [planted()], gain=0)
    networks.retinaface(folder / "scrfd_2.5g.onnx", [], gain=0)
    networks.yolo_face(folder / "yoloface_8n.onnx", [planted()], gain=0)
    networks.yunet(folder / "yunet_2023_mar.onnx", [planted()], gain=0)
    return folder


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as shared:
        yield shared


@pytest.fixture
def swap(runner: Runner, models: Path, tmp_path: Path):
    """The result of a job on the picture, and its report."""

    def run(**options: object):
        Image.fromarray(TARGET).save(tmp_path / "target.png")
        fields = {"precision": "fp32", "models": [str(models)], "overwrite": True}
        fields |= {"swapper": str(models / "tinting.onnx"), "swapper_family": "inswapper", **options}
        report = runner.run(jobs.job(tmp_path / "target.png", tmp_path / "out.png", **fields))
        return jobs.rgb(tmp_path / "out.png"), report

    return run


@pytest.mark.parametrize("detector", ["retinaface_10g", "yoloface_8n", "yunet_2023_mar"])
def test_a_detector_finds_the_face_it_encodes(swap, detector: str) -> None:
    plain, _ = swap()
    result, report = swap(detector=detector)
    assert {use.model for use in report.models} >= {detector, "face_mesh_478"}
    assert report.faces == 1
    assert psnr(plain, TARGET) < 25
    assert psnr(result, plain) > 30, "the same face is confirmed by the same landmarker"


def test_what_a_detector_does_not_see_is_not_there(swap) -> None:
    with pytest.raises(NoFaceError):
        swap(detector="scrfd_2.5g")


def test_networks_go_by_the_points_of_the_landmarker(swap, models: Path) -> None:
    """2dfan4 has all points at one place; fan_68_5 gives those that it was fitted to, moved."""
    points = field.sixty_eight(TARGET)
    five = five_of_68(points).astype(float)
    to_template = reference.similarity(five, FFHQ_512)
    moved = reference.move(points + SHIFT, to_template)
    networks.fan_68_5(models / "fan_68_5.onnx", np.concatenate([np.zeros((10, 136)), moved.reshape(1, 136)]))
    result, report = swap(landmarker="fan_68_5")
    raw = field.embedding(jobs.rgb(jobs.ASTRONAUT), field.five(jobs.rgb(jobs.ASTRONAUT)))
    tint = field.tint_of(reference.inswapper_source(raw, field.EMAP))
    assert psnr(result, field.swapped(TARGET.astype(float), five + SHIFT, tint)) > 40
    assert psnr(result, field.swapped(TARGET.astype(float), five, tint)) < 35
    assert "fan_68_5" in {use.model for use in report.models}


@pytest.mark.parametrize("sure", [True, False])
def test_a_view_landmarker_counts_where_it_is_sure(swap, models: Path, sure: bool) -> None:
    """All its points lie about the middle of what is blue in its view: another size, and another place."""
    plain, _ = swap()
    wide = (field.sixty_eight(TARGET) - field.sixty_eight(TARGET).mean(axis=0)) / 8
    networks.peppa_wutz(models / "peppa_wutz.onnx", wide, np.full(68, 0.9 if sure else 0.2))
    result, report = swap(landmarker="peppa_wutz")
    assert np.array_equal(result, plain) is not sure
    assert "peppa_wutz" in {use.model for use in report.models}


def test_a_recogniser_tells_who_the_source_is(swap, models: Path, tmp_path: Path, monkeypatch) -> None:
    source = jobs.rgb(jobs.ASTRONAUT)
    raw = field.embedding(source, field.five(source))
    other = networks.arcface(models / "other.onnx", np.ascontiguousarray(field.LOOKS[:, ::-1]))
    monkeypatch.setenv("MIEN_REGISTER", str(tmp_path / "models.toml"))
    assert main(["models", "add", str(other), "--family", "arcface", "--id", "mine"]) == 0
    for recogniser, seen in (("mine", raw[::-1]), ("arcface_w600k_r50", raw)):
        result, _ = swap(recogniser=recogniser)
        tint = field.tint_of(reference.inswapper_source(seen, field.EMAP))
        assert psnr(result, field.swapped(TARGET.astype(float), field.five(TARGET), tint)) > 40
    with pytest.raises(UsageError, match="name it by its id"):
        swap(recogniser=str(other))
    with pytest.raises(UsageError, match=r"gfpgan_1\.4 is no recogniser but a restorer"):
        swap(recogniser="gfpgan_1.4")


def test_a_landmarker_without_networks_is_refused(swap) -> None:
    with pytest.raises(UsageError, match="'landmarker' is for networks"):
        swap(landmarker="fan_68_5", swapper="geometric", swapper_family=None)


def psnr(one: np.ndarray, other: np.ndarray) -> float:
    return float(10 * np.log10(255**2 / np.mean((one.astype(float) - other) ** 2)))
