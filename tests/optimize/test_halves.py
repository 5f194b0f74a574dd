"""Float16 networks: what they are made of, and that what halves cannot hold is found."""

from pathlib import Path

import cv2
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mien.media.pictures import read_rgb
from mien.models.catalogue import find_model
from mien.optimize.examine import damage_of
from mien.optimize.graph import clean
from mien.optimize.halves import candidates, halved, rounded
from mien.optimize.search import culprits
from mien.optimize.stack import runtime
from optimize.nets import STILLS, planted

RNG = np.random.default_rng(0)
CROP = RNG.normal(size=(1, 3, 112, 112)).astype(np.float32)
HALF = TensorProto.FLOAT16


def run(model, **inputs):
    session = runtime().InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def types(model) -> dict[str, int]:
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    found = {port.name: port.type.tensor_type.elem_type for port in inferred.graph.value_info}
    return found | {tensor.name: tensor.data_type for tensor in model.graph.initializer}


@pytest.mark.parametrize("model", ["dlib_face_recognition", "face_mesh_478", "selfie_segmentation", "span_x2"])
def test_a_bundled_network_in_halves_is_sound_and_says_nearly_the_same(model: str):
    network = clean(find_model(model).path)
    made = halved(network, ())
    onnx.checker.check_model(made, full_check=True)
    kinds = types(made)
    convolutions = [node for node in made.graph.node if node.op_type == "Conv"]
    assert convolutions
    assert all(kinds[name] == HALF for node in convolutions for name in node.input if name)
    for port in (*made.graph.input, *made.graph.output):
        assert port.type.tensor_type.elem_type == TensorProto.FLOAT
    shape = [side.dim_value or 1 for side in network.graph.input[0].type.tensor_type.shape.dim]
    shape = [1, *(64 if side == 1 else side for side in shape[1:3]), 3]
    portrait = cv2.resize(read_rgb(STILLS / "grace_hopper.jpg")[:300, 100:400], (shape[2], shape[1]))[None]
    scale = 1 if model == "dlib_face_recognition" else 255
    x = {network.graph.input[0].name: portrait.astype(np.float32) / scale}
    assert damage_of([run(network, **x)], [run(made, **x)]) < 0.05


def test_kept_nodes_compute_in_float32_between_casts(tmp_path: Path):
    network = clean(planted(tmp_path / "net.onnx", loud=1))
    made = halved(network, {"loud", "quiet"})
    onnx.checker.check_model(made, full_check=True)
    kinds = types(made)
    by_name = {node.name: node for node in made.graph.node}
    assert {kinds[name] for layer in ("loud", "quiet") for name in by_name[layer].input} == {TensorProto.FLOAT}
    assert {kinds[name] for layer in ("before", "after") for name in by_name[layer].input} == {HALF}
    assert not {name for name in kinds if name.startswith("w_before") and kinds[name] == TensorProto.FLOAT}
    assert sum(node.op_type == "Cast" for node in made.graph.node) == 4  # in, to float32, to halves, out


def test_weights_that_adapters_read_stay_float32_and_last(tmp_path: Path):
    emap = RNG.normal(size=(512, 512)).astype(np.float32)
    network = clean(planted(tmp_path / "net.onnx", loud=1, unread={"emap": emap}))
    last = halved(network, ()).graph.initializer[-1]
    # Halves of weights are appended, and must not come behind it.
    assert last.name == "emap"
    np.testing.assert_array_equal(numpy_helper.to_array(last), emap)


def test_scales_of_a_resize_stay_float32():
    nodes = [helper.make_node("Resize", ["x", "", "scales"], ["y"], "enlarge", mode="linear")]
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, side, side])
        for name, side in (("x", 4), ("y", 8))
    ]
    scales = numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")
    graph = helper.make_graph(nodes, "resize", ports[:1], ports[1:], [scales])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert candidates(model) == ("enlarge",)
    made = halved(model, ())
    onnx.checker.check_model(made, full_check=True)
    assert types(made)["scales"] == TensorProto.FLOAT


def test_what_the_network_says_stays_float32_where_it_also_goes_on():
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"], "square"),
        helper.make_node("Relu", ["square"], ["y"], "relu"),
        helper.make_node("Sqrt", ["square"], ["root"], "kept"),
    ]
    ports = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "square", "y", "root")}
    graph = helper.make_graph(nodes, "shared", [ports.pop("x")], list(ports.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    made = halved(model, {"kept"})
    onnx.checker.check_model(made, full_check=True)
    x = np.array([1, 2, 0.1, 300], np.float32)
    with np.errstate(over="ignore"):
        half = (x.astype(np.float16) * x.astype(np.float16)).astype(np.float32)
        for found, expected in zip(
            run(rounded(model, {"square", "relu"}), x=x), (half, half, np.sqrt(half)), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    assert [port.type.tensor_type.elem_type for port in made.graph.output] == [TensorProto.FLOAT] * 3
    assert len(run(made, x=x)) == 3


def test_a_place_that_halves_cannot_hold_is_found(tmp_path: Path):
    network = clean(planted(tmp_path / "net.onnx", loud=1e7))
    nodes, exact = candidates(network), [run(network, input=CROP)]

    def damage(changed: frozenset[str]) -> float:
        return damage_of(exact, [run(rounded(network, changed), input=CROP)])

    assert damage(frozenset(nodes)) == float("inf")
    assert culprits(nodes, damage, 0.02) == {"loud", "quiet"}
    assert damage(frozenset(nodes) - {"loud", "quiet"}) < 0.02


def test_rounding_is_what_numpy_makes_of_halves(tmp_path: Path):
    network = clean(planted(tmp_path / "net.onnx", loud=1))
    # `last` alone: its input, weights and output are rounded, its sums are not.
    [exact] = run(network, input=CROP)
    [found] = run(rounded(network, {"last"}), input=CROP)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in network.graph.initializer}
    graph = onnx.ModelProto()
    graph.CopyFrom(network)
    graph.graph.output.append(helper.make_tensor_value_info("h", TensorProto.FLOAT, None))
    flat = run(graph, input=CROP)[1]
    expected = flat.astype(np.float16).astype(np.float32) @ weights["w_last"].astype(np.float16).astype(np.float32)
    np.testing.assert_allclose(found, expected.astype(np.float16), rtol=2e-3, atol=1e-3)
    assert not np.array_equal(found, exact)
