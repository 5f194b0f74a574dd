from pathlib import Path

import numpy as np
import pytest

import mien.models
from mien.engine import mapped as mapped_module
from mien.engine.device import core
from mien.engine.mapped import read_mapped
from mien.engine.onnx_file import OnnxFile
from mien.engine.runtime import ov
from mien.errors import ModelError

FILES = sorted((Path(mien.models.__file__).parent / "bundled").glob("*.onnx"))
files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@files
def test_ports_are_those_that_another_reader_finds(path: Path):
    ours, theirs = OnnxFile(path), core().read_model(path)
    weights = {weight.name for weight in ours.weights}
    for found, expected in ((ours.inputs, theirs.inputs), (ours.outputs, theirs.outputs)):
        found = [port for port in found if port.name not in weights]
        assert {port.name for port in found} <= {name for port in expected for name in port.get_names()}
        assert [port.data_type for port in found] == [1] * len(expected)
        shapes = [[-1 if isinstance(axis, str) else axis for axis in port.shape] for port in found]
        known = [[-1 if axis.is_dynamic else axis.get_length() for axis in port.partial_shape] for port in expected]
        assert [len(shape) for shape in shapes] == [len(shape) for shape in known]
        if found and found[0] in ours.inputs:
            assert shapes == known


@files
def test_weights_are_those_that_another_reader_finds(path: Path):
    ours = OnnxFile(path)
    theirs = {
        node.get_friendly_name(): node.data
        for node in core().read_model(path).get_ops()
        if node.get_type_name() == "Constant"
    }
    compared = 0
    for weight in ours.weights:
        if weight.name in theirs and weight.end - weight.first >= 1024:
            np.testing.assert_array_equal(ours.values(weight.name), theirs[weight.name].reshape(weight.shape))
            compared += 1
    assert compared > 3


@files
def test_a_mapped_network_gives_the_very_same(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mapped_module, "MAPPED_BYTES", 1024)
    mapped, file = read_mapped(path)
    assert sum(weight.end - weight.first >= 1024 for weight in file.weights) > 3
    plain = core().read_model(path)
    assert [port.get_names() for port in mapped.inputs] == [port.get_names() for port in plain.inputs]
    rng = np.random.default_rng(0)
    inputs = {}
    for port in plain.inputs:
        shape = [1 if axis.is_dynamic else axis.get_length() for axis in port.partial_shape]
        inputs[port.any_name] = rng.random(shape, np.float32)
    answers = []
    for network in (mapped, plain):
        network.reshape({port: inputs[port.any_name].shape for port in network.inputs})
        compiled = core().compile_model(network, "CPU", {"INFERENCE_PRECISION_HINT": ov.Type.f32})
        answers.append([value.copy() for value in compiled(inputs).values()])
        file.forget_pages()
        answers.append([value.copy() for value in compiled(inputs).values()])
    for answer in answers[1:]:
        for value, expected in zip(answer, answers[0], strict=True):
            np.testing.assert_array_equal(value, expected)


def test_what_is_missing_is_said(tmp_path: Path):
    with pytest.raises(ModelError, match=r"nowhere\.onnx cannot be read"):
        OnnxFile(tmp_path / "nowhere.onnx")


WHOLE = FILES[0].read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a network",
        b"\x80\x04\x95pickled" * 40,
        b"PK\x03\x04" + bytes(100),
        b"\x89PNG\r\n\x1a\n" + bytes(range(200)),
        WHOLE[:-1],
        WHOLE[: len(WHOLE) // 2],
        WHOLE[:5000],
        bytes(5000),
        b"\xff" * 100,
    ],
)
def test_what_is_no_network_is_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "damaged.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"damaged\.onnx (cannot be read|is not an ONNX network)"):
        OnnxFile(path)


@pytest.mark.parametrize("seed", range(40))
def test_random_damage_is_refused_or_harmless(tmp_path: Path, seed: int):
    """Never another error than the one that says so."""
    rng = np.random.default_rng(seed)
    damaged = bytearray(WHOLE)
    for place in rng.integers(0, len(damaged), 200) if seed % 2 else rng.integers(0, 4000, 3):
        damaged[place] = rng.integers(256)
    path = tmp_path / "damaged.onnx"
    path.write_bytes(damaged)
    try:
        file = OnnxFile(path)
    except ModelError:
        return
    for weight in file.weights:
        assert file.values(weight.name).shape == weight.shape
