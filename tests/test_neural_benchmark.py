"""The stand-ins of the benchmark are what they are said to be, and its arithmetic is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

import neural
from _graph import Graph
from _measure import Run
from _quantised import quantised
from _reference import ARCFACE_112, ARCFACE_128, box_mask, cut, detector_view, paste
from _standins import arcface, fairface, fan, free_stand_ins, gfpgan, inswapper, yolo_face
from mien.engine.device import find_device
from mien.engine.onnx_file import OnnxFile
from mien.engine.openvino import OpenVinoSession
from mien.models.families.inspection import check_family, inspect
from mien.models.families.registry import FAMILIES
from support.people import still


def inswapper_formula(width: int, blocks: int, side: int) -> tuple[int, int]:
    """Parameters and multiply-adds of inswapper by hand; `side` is a multiple of four."""
    w, full, half, quarter = width, side**2, side**2 // 4, side**2 // 16
    convolutions = [
        (3 * w * 49, w, full),
        (w * 2 * w * 9, 2 * w, full),
        (2 * w * 4 * w * 9, 4 * w, half),
        (4 * w * 8 * w * 9, 8 * w, quarter),
        *[(8 * w * 8 * w * 9, 8 * w, quarter)] * (2 * blocks),
        (8 * w * 4 * w * 9, 4 * w, half),
        (4 * w * 2 * w * 9, 2 * w, full),
        (2 * w * w * 9, w, full),
        (w * 3 * 49, 3, full),
    ]
    styles = 2 * blocks * 512 * 16 * w
    parameters = sum(weights + bias for weights, bias, _ in convolutions) + styles + 2 * blocks * 16 * w + 512 * 512
    return parameters, sum(weights * pixels for weights, _, pixels in convolutions) + styles


def arcface_formula(width: int, depths: tuple[int, ...], side: int) -> tuple[int, int]:
    """The same of an IResNet: batch normalisations have four values a channel, PReLUs one."""
    parameters, adds = 3 * width * 9 + width + width, 3 * width * 9 * side**2
    before = width
    for stage, depth in enumerate(depths):
        channels = width << stage
        for place in range(depth):
            inner = side
            side = side if place else side // 2
            first, second = before * channels * 9, channels * channels * 9
            beside = 0 if place else before * channels
            parameters += 4 * before + first + channels + channels + second + channels
            parameters += beside + channels if beside else 0
            adds += first * inner**2 + (second + beside) * side**2
            before = channels
    dense = before * side**2 * 512
    return parameters + 4 * before + dense + 512, adds + dense


def test_inswapper_has_the_originals_size(tmp_path: Path) -> None:
    graph = inswapper(tmp_path / "small.onnx", width=4, blocks=2, side=32)
    assert (graph.parameters, graph.multiply_adds) == inswapper_formula(4, 2, 32)
    parameters, adds = inswapper_formula(128, 6, 128)
    assert parameters == pytest.approx(138.6e6, rel=0.001)
    assert adds == pytest.approx(174.6e9, rel=0.001)


def test_arcface_has_the_originals_size(tmp_path: Path) -> None:
    graph = arcface(tmp_path / "small.onnx", width=4, depths=(1, 2, 1, 1), side=32)
    assert (graph.parameters, graph.multiply_adds) == arcface_formula(4, (1, 2, 1, 1), 32)
    parameters, adds = arcface_formula(64, (3, 4, 14, 3), 112)
    assert parameters == pytest.approx(43.6e6, rel=0.002)
    assert adds == pytest.approx(6.3e9, rel=0.005)


NARROW: dict[str, tuple[str, Callable[[Path], Graph]]] = {
    "inswapper": ("inswapper_128", lambda path: inswapper(path, width=2, blocks=1)),
    "arcface": ("arcface_w600k_r50", lambda path: arcface(path, width=4, depths=(1, 1, 1, 1))),
    "yolo_face": ("yoloface_8n", lambda path: yolo_face(path, width=2)),
    "2dfan4": ("2dfan4", lambda path: fan(path, width=8, hourglasses=2)),
    "fairface": ("fairface", lambda path: fairface(path, width=4, depths=(1, 1, 1, 1))),
    "gfpgan": ("gfpgan_1.4", lambda path: gfpgan(path, width=32)),
}


@pytest.mark.parametrize("family", NARROW)
def test_narrow_stand_ins_keep_to_the_contract_and_run(family: str, tmp_path: Path) -> None:
    name, make = NARROW[family]
    path = tmp_path / f"{name}.onnx"
    graph = make(path)
    file = inspect(path)
    check_family(file, FAMILIES.find(family))
    whole = OnnxFile(path)
    floats = [weight for weight in whole.weights if weight.data_type == 1]
    constants = sum(math.prod(weight.shape) for weight in floats) - graph.parameters
    assert 0 <= constants < 200
    session = OpenVinoSession(path, model=name, device=find_device("cpu"), precision="fp32", max_batch=2)
    rng = np.random.default_rng(0)
    inputs = {port.name: rng.random([2, *port.shape[1:]], np.float32) for port in file.inputs}
    outputs = session.run(inputs)
    assert list(outputs) == [port.name for port in file.outputs]
    for port, values in zip(file.outputs, outputs.values(), strict=True):
        assert values.shape == (2, *port.shape[1:])
        assert np.isfinite(values).all()
    if family in ("inswapper", "gfpgan", "arcface"):
        assert np.ptp(next(iter(outputs.values()))) > 0.05


def test_a_stand_in_detector_finds_nobody(tmp_path: Path) -> None:
    path = tmp_path / "yoloface_8n.onnx"
    yolo_face(path, width=4)
    session = OpenVinoSession(path, model="yoloface_8n", device=find_device("cpu"), precision="fp32")
    detector = FAMILIES.find("yolo_face").open(session, inspect(path))
    picture = np.random.default_rng(1).integers(0, 256, (360, 640, 3), np.uint8)
    assert not len(detector.detect([picture])[0].scores)


def test_an_int8_swapper_does_as_the_original_and_keeps_its_matrix(tmp_path: Path) -> None:
    path = tmp_path / "inswapper_128.onnx"
    inswapper(path, width=4, blocks=1)
    rng = np.random.default_rng(0)
    inputs = {"target": rng.random((1, 3, 128, 128), np.float32), "source": rng.standard_normal((1, 512), np.float32)}
    inputs["source"] /= np.linalg.norm(inputs["source"])
    made = quantised(path, [inputs])
    check_family(inspect(made), FAMILIES.find("inswapper"))
    np.testing.assert_array_equal(inspect(made).last_weight(), inspect(path).last_weight())
    first, second = (
        OpenVinoSession(file, model=file.stem, device=find_device("cpu"), precision="fp32").run(inputs)["output"]
        for file in (path, made)
    )
    assert 0 < np.abs(first - second).mean() < 0.2 * first.std()


def test_free_networks_keep_to_the_contract(tmp_path: Path) -> None:
    folder = free_stand_ins(tmp_path)
    for name, family in (("inswapper_128", "inswapper"), ("arcface_w600k_r50", "arcface")):
        check_family(inspect(folder / f"{name}.onnx"), FAMILIES.find(family))


def test_reference_cuts_along_the_template() -> None:
    image = still("astronaut").picture
    crop, matrix = cut(image, ARCFACE_112, ARCFACE_112 / 112, 112)
    np.testing.assert_allclose(matrix, [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    np.testing.assert_array_equal(crop, image[:112, :112])
    _, matrix = cut(image, ARCFACE_112 * 2 + [30, 50], ARCFACE_128, 128)
    np.testing.assert_allclose(matrix, [[0.5, 0, 8 - 15], [0, 0.5, -25]], atol=1e-5)


def test_reference_pastes_what_it_cut_back_to_its_place() -> None:
    image = cv2.GaussianBlur(still("grace_hopper").picture, (0, 0), 3)
    points = ARCFACE_128 * 200 + [150, 100]
    crop, matrix = cut(image, points, ARCFACE_128, 128)
    mask = box_mask(128)
    assert mask[0, 0] < 0.01 < 0.99 < mask[64, 64]
    pasted = paste(image, crop.astype(np.float64), mask, matrix)
    assert np.abs(pasted.astype(int) - image).max() <= 6
    inverted = paste(image, 255.0 - crop, mask, matrix)
    np.testing.assert_array_equal(inverted[:90], image[:90])
    assert np.abs(255 - inverted[200, 250].astype(int) - image[200, 250]).max() <= 6


def test_the_detectors_view_is_the_whole_picture_in_the_corner() -> None:
    image = np.full((720, 1280, 3), 255, np.uint8)
    view = detector_view(image)
    assert view.shape == (1, 3, 640, 640)
    assert view[:, :, :360].min() == 1
    assert view[:, :, 360:].max() == 0


def test_rates_leave_out_what_was_before_the_first_frame() -> None:
    run = Run(30, 40, 1, 10, {"done": [[1, 10.0, 15.0], [3, 14.0, 17.0], [5, 18.0, 21.0]]})
    assert neural.frames_per_second(run) == 0.5
    assert neural.steady_cpu_s(run) == 1.5


def test_psnr_is_that_of_the_face(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = np.full((200, 200, 3), 100, np.uint8), np.zeros((200, 200, 3), np.uint8)
    points = ARCFACE_128 * 128 + 30
    inside = neural.face_area(first, points)
    assert 0.4 * 128**2 < inside.sum() < 128**2
    second[inside] = 110
    clips = {"first": [first], "second": [second]}
    monkeypatch.setattr(neural, "pictures", lambda path, _count: clips[path.name])
    found = neural.face_psnr(Path("first"), Path("second"), points[None])
    assert found["mean"] == found["least"] == round(20 * math.log10(25.5), 1)
