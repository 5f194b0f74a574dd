"""Graphs: cleaned up without changing what they say or losing what adapters read, and counted."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mien.errors import ModelError
from mien.models.catalogue import bundled, find_model
from mien.optimize.graph import clean, count, edges, layers, lean, unread_weights
from mien.optimize.stack import runtime
from optimize.nets import planted

RNG = np.random.default_rng(0)


def run(model, **inputs):
    session = runtime().InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def normalised(path: Path) -> Path:
    """A convolution with a batch normalisation, arithmetic on constants, and two weights that no node takes."""
    channels = 4
    weights = {
        "kernel": RNG.normal(size=(channels, 3, 3, 3)),
        "scale": RNG.random(channels) + 0.5,
        "bias": RNG.normal(size=channels),
        "mean": RNG.normal(size=channels),
        "variance": RNG.random(channels) + 0.5,
        "two": np.array(2.0),
        "unread": np.array([1.0, 2.0]),
        "emap": RNG.normal(size=(5, 5)),
    }
    nodes = [
        helper.make_node("Mul", ["kernel", "two"], ["doubled"]),
        helper.make_node("Conv", ["x", "doubled"], ["c"], pads=[1] * 4),
        helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "variance"], ["y"]),
    ]
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", side, 8, 8]) for name, side in (("x", 3), ("y", 4))
    ]
    tensors = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "normalised", ports[:1], ports[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def test_cleaning_fuses_and_folds_and_says_the_same(tmp_path: Path):
    path = normalised(tmp_path / "net.onnx")
    model, x = clean(path), RNG.normal(size=(1, 3, 8, 8)).astype(np.float32)
    onnx.checker.check_model(model)
    assert [node.op_type for node in model.graph.node] == ["Conv"]
    np.testing.assert_allclose(run(model, x=x)[0], run(onnx.load(str(path)), x=x)[0], atol=1e-5)


def test_weights_that_adapters_read_stay_last_and_as_they_are(tmp_path: Path):
    path = normalised(tmp_path / "net.onnx")
    model = clean(path)
    before = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(str(path)).graph.initializer}
    assert [tensor.name for tensor in model.graph.initializer][-2:] == ["unread", "emap"]
    np.testing.assert_array_equal(numpy_helper.to_array(model.graph.initializer[-1]), before["emap"])
    assert unread_weights(model) == {"unread", "emap"}


@pytest.mark.parametrize("model", ["dlib_face_recognition", "face_detection_full_range", "nsfwjs_mobilenet_v2"])
def test_counts_are_those_of_the_catalogue(model: str):
    entry = find_model(model)
    network = clean(entry.path)
    shape = [side.dim_value or 1 for side in network.graph.input[0].type.tensor_type.shape.dim]
    found = count(network, {network.graph.input[0].name: np.zeros(shape, np.float32)})
    assert found.operations == pytest.approx(entry.operations, rel=0.05)
    assert found.parameters == pytest.approx(entry.parameters, rel=0.05)


def test_edges_are_the_layers_that_nothing_comes_before_or_after(tmp_path: Path):
    model = clean(planted(tmp_path / "net.onnx", loud=1))
    assert layers(model) == ("first", "before", "loud", "quiet", "after", "last")
    assert edges(model) == {"first", "last"}
    # The detector says scores and boxes of two grids: four layers come last.
    assert len(edges(clean(find_model("face_detection_back").path))) == 5


@pytest.mark.parametrize("model", ["face_detection_short_range", "span_x4"])
def test_a_lean_file_is_half_as_large_and_says_exactly_the_same(model: str):
    network = clean(find_model(model).path)
    made = lean(network)
    onnx.checker.check_model(made, full_check=True)
    assert len(made.SerializeToString()) < 0.6 * len(network.SerializeToString())
    name, side = network.graph.input[0].name, 128 if model == "face_detection_short_range" else 16
    x = {name: RNG.random((1, side, side, 3), np.float32)}
    for one, two in zip(run(network, **x), run(made, **x), strict=True):
        np.testing.assert_array_equal(one, two)


def test_weights_that_are_no_halves_or_that_adapters_read_stay_float32(tmp_path: Path):
    made = lean(clean(planted(tmp_path / "net.onnx", loud=1, unread={"emap": np.zeros((32, 32), np.float32)})))
    assert {tensor.data_type for tensor in made.graph.initializer} == {TensorProto.FLOAT}
    assert made.graph.initializer[-1].name == "emap"


def test_every_node_has_a_name():
    for entry in bundled().values():
        names = [node.name for node in clean(entry.path).graph.node]
        assert all(names)
        assert len(names) == len(set(names))


@pytest.mark.parametrize(("content", "words"), [(b"<html>", "web page"), (b"PK\3\4", "zip archive"), (b"", "empty")])
def test_what_is_no_network_is_said(tmp_path: Path, content: bytes, words: str):
    (tmp_path / "net.onnx").write_bytes(content)
    with pytest.raises(ModelError, match=words):
        clean(tmp_path / "net.onnx")
