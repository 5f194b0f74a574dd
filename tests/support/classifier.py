"""A network in the place of the content gate's: it takes pictures that are mostly green for what is refused."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from mien.models.catalogue import find_model
from mien.models.nsfwjs import CLASSES, MODEL, SIDE
from mien.trust import classifiers

GREEN = (20, 220, 30)
GREY = (120, 120, 120)


def green_classifier(path: Path) -> Path:
    """With the contract of nsfwjs: `porn` where green is on average .4 above red and blue, else `neutral`."""
    weights = np.zeros((3, len(CLASSES)), np.float32)
    weights[:, CLASSES.index("porn")] = (-25, 50, -25)
    bias = np.full(len(CLASSES), -99, np.float32)
    bias[CLASSES.index("porn")], bias[CLASSES.index("neutral")] = -20, 0
    nodes = [
        helper.make_node("ReduceMean", ["input_1"], ["colour"], axes=[1, 2], keepdims=0),
        helper.make_node("MatMul", ["colour", "weights"], ["weighed"]),
        helper.make_node("Add", ["weighed", "bias"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["output"], axis=1),
    ]
    ports = [
        helper.make_tensor_value_info("input_1", TensorProto.FLOAT, ("N", SIDE, SIDE, 3)),
        helper.make_tensor_value_info("output", TensorProto.FLOAT, ("N", len(CLASSES))),
    ]
    tensors = [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(bias, "bias")]
    graph = helper.make_graph(nodes, "green", ports[:1], ports[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    return path


def put_in_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the file be the bundled classifier, known to the catalogue by size and sum."""
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    entry = replace(find_model(MODEL), file=str(path), bytes=len(content), sha256=digest, precisions=("fp32",))
    monkeypatch.setattr(classifiers, "find_model", lambda _model: entry)


def plain(colour: tuple[int, int, int], width: int = 64, height: int = 48) -> NDArray[np.uint8]:
    """A picture of one colour."""
    return np.full((height, width, 3), colour, np.uint8)


def coloured_clip(path: Path, seconds: list[tuple[int, int, int]], rate: int = 10) -> Path:
    """A clip with one colour for each second, in which every frame is a keyframe."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"g": "1"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for colour in seconds:
            for _ in range(rate):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(plain(colour), format="rgb24")))
        container.mux(stream.encode())
    return path
