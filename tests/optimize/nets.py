"""Networks of the family arcface in which one place bears no bytes, or no halves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STILLS = Path(__file__).parents[1] / "stills"
WIDTH = 8


def write(path: Path, nodes: list, weights: dict[str, np.ndarray], unread: dict[str, np.ndarray] | None = None) -> Path:
    """input (n, 3, 112, 112) -> embedding (n, 512); `unread` weights come last."""
    tensors = [
        numpy_helper.from_array(np.asarray(value), name) for name, value in {**weights, **(unread or {})}.items()
    ]
    ports = [
        helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", 3, 112, 112]),
        helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["n", 512]),
    ]
    graph = helper.make_graph(nodes, "planted", ports[:1], ports[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    return path


def planted(path: Path, *, loud: float, unread: dict[str, np.ndarray] | None = None) -> Path:
    """Six layers: `first`, `before`, `loud`, `quiet`, `after` and `last`.

    `loud` makes one channel `loud` times as strong as the others, and `quiet` takes that back: what the other channels
    say is lost where values lie on one scale of 256 steps, and a channel of 1e6 is more than a half can hold.
    """
    rng = np.random.default_rng(0)

    def kernel(out: int, depth: int, side: int) -> np.ndarray:
        return (rng.normal(size=(out, depth, side, side)) / np.sqrt(depth * side * side)).astype(np.float32)

    gains = np.ones(WIDTH, np.float32)
    gains[0] = loud
    weights = {
        "w_first": kernel(WIDTH, 3, 4),
        "w_before": kernel(WIDTH, WIDTH, 3),
        "w_loud": kernel(WIDTH, WIDTH, 3) * gains[:, None, None, None],
        "w_quiet": kernel(WIDTH, WIDTH, 3) / gains[None, :, None, None],
        "w_after": kernel(WIDTH, WIDTH, 3),
        "w_last": kernel(512, WIDTH * 49, 1)[:, :, 0, 0].T.copy(),
        "shift": rng.normal(size=WIDTH).astype(np.float32),
    }
    same = {"pads": [1] * 4}
    nodes = [
        helper.make_node("Conv", ["input", "w_first"], ["a"], "first", strides=[4, 4]),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("Conv", ["b", "w_before", "shift"], ["c"], "before", **same),
        helper.make_node("Conv", ["c", "w_loud"], ["d"], "loud", **same),
        helper.make_node("Conv", ["d", "w_quiet"], ["e"], "quiet", **same),
        helper.make_node("Conv", ["e", "w_after"], ["f"], "after", **same),
        helper.make_node("AveragePool", ["f"], ["g"], "pool", kernel_shape=[4, 4], strides=[4, 4]),
        helper.make_node("Flatten", ["g"], ["h"], "flat"),
        helper.make_node("MatMul", ["h", "w_last"], ["embedding"], "last"),
    ]
    return write(path, nodes, weights, unread)
