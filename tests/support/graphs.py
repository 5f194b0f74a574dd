"""Small ONNX files with one convolution, as float32, float16 and quantised."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KERNEL = np.random.default_rng(0).normal(0, 0.2, (4, 3, 3, 3)).astype(np.float32)


def convolution(path: Path, *, batch: int | str = "n", side: int | str = 16) -> Path:
    """input (batch, 3, side, side) float32 -> output (batch, 4, side, side)."""
    node = helper.make_node("Conv", ["input", "kernel"], ["output"], pads=[1, 1, 1, 1])
    return _write(path, [node], [numpy_helper.from_array(KERNEL, "kernel")], batch, side)


def half_convolution(path: Path) -> Path:
    """The same with float32 ports and the arithmetic in float16."""
    nodes = [
        helper.make_node("Cast", ["input"], ["half"], to=TensorProto.FLOAT16),
        helper.make_node("Conv", ["half", "kernel"], ["product"], pads=[1, 1, 1, 1]),
        helper.make_node("Cast", ["product"], ["output"], to=TensorProto.FLOAT),
    ]
    return _write(path, nodes, [numpy_helper.from_array(KERNEL.astype(np.float16), "kernel")], "n", 16)


def quantised_convolution(path: Path) -> Path:
    """The same with inputs of 0..1 as unsigned and weights as signed bytes (QDQ)."""
    scale = np.float32(np.abs(KERNEL).max() / 127)
    weights = {
        "input_scale": np.float32(1 / 255),
        "input_zero": np.uint8(0),
        "kernel_bytes": np.round(KERNEL / scale).astype(np.int8),
        "kernel_scale": scale,
        "kernel_zero": np.int8(0),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["input", "input_scale", "input_zero"], ["bytes"]),
        helper.make_node("DequantizeLinear", ["bytes", "input_scale", "input_zero"], ["rounded"]),
        helper.make_node("DequantizeLinear", ["kernel_bytes", "kernel_scale", "kernel_zero"], ["kernel"]),
        helper.make_node("Conv", ["rounded", "kernel"], ["output"], pads=[1, 1, 1, 1]),
    ]
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    return _write(path, nodes, tensors, "n", 16)


def _write(path: Path, nodes: list, weights: list, batch: int | str, side: int | str) -> Path:
    shapes = {"input": (batch, 3, side, side), "output": (batch, 4, side, side)}
    ports = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    graph = helper.make_graph(nodes, "small", [ports["input"]], [ports["output"]], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    return path
