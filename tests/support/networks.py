"""Stand-in networks as ONNX files: any size on disk, any cost, random weights. Needs the package `onnx`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


def residual_network(path: Path, *, channels: int, blocks: int, side: int = 16, seed: int = 0) -> int:
    """Write a net of 3x3 convolutions with residual additions; returns its parameters (about 9 * channels^2 a block).

    Input `x` (n, 3, side, side), output `y` of the same shape, values of the same order as the input's. The weights are
    in the file as float32, as in the field's own files.
    """
    rng = np.random.default_rng(seed)
    shape = ["n", 3, side, side]
    layers = list(_layers(rng, channels, blocks))
    nodes = [node for node, _ in layers]
    weights = [weight for _, weight in layers if weight is not None]
    graph = helper.make_graph(
        nodes,
        "residual",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(weight, name) for name, weight in weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return sum(weight.size for _, weight in weights)


def _layers(
    rng: np.random.Generator, channels: int, blocks: int
) -> Iterator[tuple[onnx.NodeProto, tuple[str, np.ndarray] | None]]:
    yield _convolution(rng, "x", "head", 3, channels)
    last = "head"
    for number in range(blocks):
        name = f"block{number}"
        yield _convolution(rng, last, f"{name}_conv", channels, channels)
        yield helper.make_node("Relu", [f"{name}_conv"], [f"{name}_relu"]), None
        yield helper.make_node("Add", [last, f"{name}_relu"], [name]), None
        last = name
    yield _convolution(rng, last, "y", channels, 3)


def _convolution(
    rng: np.random.Generator, source: str, target: str, inputs: int, outputs: int
) -> tuple[onnx.NodeProto, tuple[str, np.ndarray]]:
    spread = np.float32(1 / (3 * np.sqrt(inputs)))
    weight = rng.standard_normal((outputs, inputs, 3, 3), dtype=np.float32) * spread
    name = f"{target}_weight"
    return helper.make_node("Conv", [source, name], [target], pads=[1, 1, 1, 1]), (name, weight)
