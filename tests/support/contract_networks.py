"""One ONNX file for every model family, with the field's names, shapes and types and a known arithmetic meaning.

Batch axes are fixed to 1, as in most of the field's files, unless said otherwise. Needs the package `onnx`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
EMBEDDING = 512
NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
"""Resize: every pixel several times."""
FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64


@dataclass
class Graph:
    """Nodes and weights on their way into a file."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def constant(self, value) -> str:
        """A weight; float64 values become float32."""
        array = np.asarray(value)
        array = array.astype(np.float32) if array.dtype == np.float64 else array
        name = f"w{len(self.weights)}"
        self.weights[name] = numpy_helper.from_array(array, name)
        return name

    def add(self, kind: str, *inputs, out: str | None = None, **attributes) -> str:
        """A node; arrays among its inputs become weights."""
        names = [name if isinstance(name, str) else self.constant(name) for name in inputs]
        out = out or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, names, [out], **attributes))
        return out

    def channel(self, value: str, number: int, axis: int) -> str:
        """One channel, its axis kept."""
        bounds = (np.array([end], np.int64) for end in (number, number + 1, axis))
        return self.add("Slice", value, *bounds)

    def write(
        self,
        path: Path,
        inputs: Mapping[str, tuple],
        outputs: Mapping[str, tuple],
        types: Mapping[str, int] | None = None,
        weights: Sequence[onnx.TensorProto] = (),
    ) -> Path:
        """The file; `types` other than float32, further `weights` come last."""
        types = types or {}
        ports = [
            [helper.make_tensor_value_info(name, types.get(name, FLOAT), shape) for name, shape in side.items()]
            for side in (inputs, outputs)
        ]
        graph = helper.make_graph(self.nodes, "contract", *ports, [*self.weights.values(), *weights])
        imports = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(
            graph, opset_imports=imports, ir_version=8, producer_name="contract", producer_version="1.0"
        )
        onnx.checker.check_model(model)
        path.write_bytes(model.SerializeToString())
        return path


@dataclass(frozen=True)
class Planted:
    """A face that a detector's file encodes, in pixels of its view. Its score grows with the view's blue."""

    box: tuple[float, float, float, float]
    points: tuple[tuple[float, float], ...]
    score: float
    stride: int = 16

    @property
    def cell(self) -> tuple[int, int]:
        """Column and row of the cell that holds the middle of the box."""
        x0, y0, x1, y1 = self.box
        return int((x0 + x1) / 2) // self.stride, int((y0 + y1) / 2) // self.stride


def retinaface(path: Path, faces: Sequence[Planted], *, gain: float, side: int = 640, anchor: int = 1) -> Path:
    """Nine outputs without a batch axis. The score adds `gain` times the mean of the first channel."""
    graph = Graph()
    mean = graph.add("ReduceMean", graph.channel("input", 0, 1), keepdims=0)
    outputs: dict[str, tuple] = {}
    for kind, columns in (("score", 1), ("bbox", 4), ("kps", 10)):
        for stride in (8, 16, 32):
            width = side // stride
            rows, moved = np.zeros((width * width * 2, columns)), np.zeros((width * width * 2, 1))
            for face in (face for face in faces if face.stride == stride):
                column, line = face.cell
                row = (line * width + column) * 2 + anchor
                x, y = column * stride, line * stride
                left, top, right, bottom = face.box
                rows[row] = {
                    "score": [face.score],
                    "bbox": np.array([x - left, y - top, right - x, bottom - y]) / stride,
                    "kps": ((np.array(face.points) - [x, y]) / stride).ravel(),
                }[kind]
                moved[row] = gain * (kind == "score")
            name = f"{kind}_{stride}"
            graph.add("Add", rows, graph.add("Mul", moved, mean), out=name)
            outputs[name] = rows.shape
    return graph.write(path, {"input": (1, 3, side, side)}, outputs)


def yolo_face(path: Path, faces: Sequence[Planted], *, gain: float, batch: object = 1) -> Path:
    """One output of 20 rows."""
    graph = Graph()
    mean = _blue(graph)
    rows, moved = np.zeros((1, 20, 8400)), np.zeros((1, 20, 8400))
    for number, face in enumerate(faces):
        x0, y0, x1, y1 = face.box
        points = np.concatenate([np.array(face.points), np.full((5, 1), 0.7)], axis=1)
        column = 100 + 1000 * number
        rows[0, :, column] = [(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, face.score, *points.ravel()]
        moved[0, 4, column] = gain
    graph.add("Add", rows, graph.add("Mul", moved, mean), out="output0")
    return graph.write(path, {"input": (batch, 3, 640, 640)}, {"output0": (batch, 20, 8400)})


def yunet(path: Path, faces: Sequence[Planted], *, gain: float, batch: object = 1) -> Path:
    """Twelve outputs; the score is the class, which is the face's, times the object, which is 1 + gain * blue."""
    graph = Graph()
    mean = _blue(graph)
    outputs: dict[str, tuple] = {}
    for kind, columns in (("cls", 1), ("obj", 1), ("bbox", 4), ("kps", 10)):
        for stride in (8, 16, 32):
            width = 640 // stride
            rows = np.zeros((1, width * width, columns))
            for face in (face for face in faces if face.stride == stride):
                column, line = face.cell
                corner = np.array([column, line]) * stride
                x0, y0, x1, y1 = face.box
                middle = (np.array([x0 + x1, y0 + y1]) / 2 - corner) / stride
                rows[0, line * width + column] = {
                    "cls": [face.score],
                    "obj": [1],
                    "bbox": [*middle, *np.log(np.array([x1 - x0, y1 - y0]) / stride)],
                    "kps": ((np.array(face.points) - corner) / stride).ravel(),
                }[kind]
            name = f"{kind}_{stride}"
            change = graph.add("Mul", rows * (gain if kind == "obj" else 0), mean)
            graph.add("Add", rows, change, out=name)
            outputs[name] = (batch, *rows.shape[1:])
    return graph.write(path, {"input": (batch, 3, 640, 640)}, outputs)


def fan(path: Path, offsets: np.ndarray, peaks: np.ndarray) -> Path:
    """2dfan4: all points lie at the middle of what is blue, plus `offsets` (68, 2) on the grid of 64."""
    graph = Graph()
    points = graph.add("Add", _blob(graph), np.concatenate([offsets, np.zeros((68, 1))], axis=1)[None])
    heat = np.zeros((1, 68, 64, 64))
    heat[0, np.arange(68), 20, 30] = peaks
    graph.add("Identity", points, out="landmarks")
    nothing = graph.add("Mul", graph.add("ReduceMean", points, axes=[1, 2], keepdims=1), np.array(0.0))
    graph.add("Add", heat, graph.add("Unsqueeze", nothing, np.array([3], np.int64)), out="heatmaps")
    shapes = {"landmarks": (1, 68, 3), "heatmaps": (1, 68, 64, 64)}
    return graph.write(path, {"input": (1, 3, 256, 256)}, shapes)


def peppa_wutz(path: Path, offsets: np.ndarray, scores: np.ndarray) -> Path:
    """peppa_wutz: as `fan`, 204 numbers a face."""
    graph = Graph()
    points = graph.add("Add", _blob(graph), np.concatenate([offsets, scores[:, None]], axis=1)[None])
    graph.add("Flatten", points, out="output", axis=1)
    return graph.write(path, {"input": (1, 3, 256, 256)}, {"output": (1, 204)})


def fan_68_5(path: Path, matrix: np.ndarray) -> Path:
    """68 points that are a linear function of five: `matrix` (11, 136), its last row added."""
    graph = Graph()
    flat = graph.add("Flatten", "input", axis=1)
    moved = graph.add("Add", graph.add("MatMul", flat, matrix[:10]), matrix[10:])
    graph.add("Reshape", moved, np.array([-1, 68, 2], np.int64), out="output")
    return graph.write(path, {"input": (1, 5, 2)}, {"output": (1, 68, 2)})


def arcface(path: Path, matrix: np.ndarray) -> Path:
    """Means of cells of 8 x 8 pixels, channel by channel, times `matrix` (588, 512)."""
    graph = Graph()
    cells = graph.add("AveragePool", "input", kernel_shape=[8, 8], strides=[8, 8])
    graph.add("MatMul", graph.add("Flatten", cells, axis=1), matrix, out="embedding")
    return graph.write(path, {"input": (1, 3, 112, 112)}, {"embedding": (1, EMBEDDING)})


def fairface(path: Path, matrices: Sequence[np.ndarray]) -> Path:
    """For race, gender and age the number of the largest of means of channels times a matrix (3, classes)."""
    graph = Graph()
    means = graph.add("ReduceMean", "input", axes=[2, 3], keepdims=0)
    names = ("race_id", "gender_id", "age_id")
    for name, matrix in zip(names, matrices, strict=True):
        graph.add("ArgMax", graph.add("MatMul", means, matrix), out=name, axis=1, keepdims=0)
    shapes = dict.fromkeys(names, (1,))
    return graph.write(path, {"input": (1, 3, 224, 224)}, shapes, dict.fromkeys(names, INT64))


def crossface(path: Path, matrix: np.ndarray) -> Path:
    """The embedding times `matrix` (512, 512)."""
    graph = Graph()
    graph.add("MatMul", "input", matrix, out="output")
    return graph.write(path, {"input": (1, EMBEDDING)}, {"output": (1, EMBEDDING)})


def swapper(
    path: Path,
    side: int,
    tint: np.ndarray,
    *,
    factor: Sequence[float] = (1, 1, 1),
    shift: Sequence[float] = (0, 0, 0),
    picture: int | None = None,
    weights: Sequence[onnx.TensorProto] = (),
    batch: object = 1,
) -> Path:
    """The target times `factor` plus `shift` plus what `tint` makes of the source, channel by channel.

    `tint` is (512, 3); for a source that is a picture of `picture` pixels it is (3, 3), times the picture's means.
    """
    graph = Graph()
    source = graph.add("ReduceMean", "source", axes=[2, 3], keepdims=0) if picture else "source"
    tinted = graph.add("Unsqueeze", graph.add("MatMul", source, tint), np.array([2, 3], np.int64))
    scaled = graph.add("Mul", "target", np.reshape(np.array(factor, np.float32), (1, 3, 1, 1)))
    moved = graph.add("Add", scaled, np.reshape(np.array(shift, np.float32), (1, 3, 1, 1)))
    graph.add("Add", moved, tinted, out="output")
    inner = (3, picture, picture) if picture else (EMBEDDING,)
    inputs = {"target": (batch, 3, side, side), "source": (batch, *inner)}
    return graph.write(path, inputs, {"output": (batch, 3, side, side)}, weights=weights)


def emap_weight(emap: np.ndarray, how: str = "raw") -> onnx.TensorProto:
    """inswapper's matrix as a weight: `raw`, `listed`, `fp16` or `fp16-listed`."""
    values = emap.astype(np.float16 if how.startswith("fp16") else np.float32)
    if how in ("raw", "fp16"):
        return numpy_helper.from_array(values, "emap")
    kind = TensorProto.FLOAT16 if how == "fp16-listed" else FLOAT
    listed = values.view(np.uint16).astype(np.int32) if how == "fp16-listed" else values
    tensor = onnx.TensorProto(name="emap", data_type=kind, dims=values.shape)
    (tensor.int32_data if how == "fp16-listed" else tensor.float_data).extend(listed.ravel().tolist())
    return tensor


def deep_swapper(path: Path, side: int, masks: Sequence[np.ndarray], shift: Sequence[float], *, morphs: bool) -> Path:
    """The face plus `shift` (blue, green, red), times the morph value; `masks` (side, side) of target and source."""
    graph = Graph()
    moved = graph.add("Add", "in_face:0", np.reshape(np.array(shift, np.float32), (1, 1, 1, 3)))
    nothing = graph.add("Mul", graph.add("ReduceMean", "in_face:0", axes=[3], keepdims=1), np.array(0.0))
    graph.add("Add", masks[0][None, :, :, None], nothing, out="out_face_mask:0")
    last = "morph_value:0" if morphs else np.ones(1)
    graph.add("Mul", moved, last, out="out_celeb_face:0")
    graph.add("Add", masks[1][None, :, :, None], nothing, out="out_celeb_face_mask:0")
    inputs = {"in_face:0": (1, side, side, 3)} | ({"morph_value:0": (1,)} if morphs else {})
    mask = (1, side, side, 1)
    shapes = {"out_face_mask:0": mask, "out_celeb_face:0": (1, side, side, 3), "out_celeb_face_mask:0": mask}
    return graph.write(path, inputs, shapes)


def ballast(length: int) -> onnx.TensorProto:
    """A weight of that many bytes which nothing uses."""
    return numpy_helper.from_array(np.zeros(length, np.uint8), "ballast")


def restorer(
    path: Path,
    side: int,
    factor: float,
    shift: Sequence[float],
    *,
    weighted: bool = False,
    weights: Sequence[onnx.TensorProto] = (),
) -> Path:
    """The crop times `factor` (times the float64 weight) plus `shift` (red, green, blue), all in -1..1."""
    graph = Graph()
    scaled = graph.add("Mul", "input", np.array(factor, np.float32))
    if weighted:
        scaled = graph.add("Mul", scaled, graph.add("Cast", "weight", to=FLOAT))
    graph.add("Add", scaled, np.reshape(np.array(shift, np.float32), (1, 3, 1, 1)), out="output")
    inputs = {"input": (1, 3, side, side)} | ({"weight": (1,)} if weighted else {})
    return graph.write(path, inputs, {"output": (1, 3, side, side)}, {"weight": DOUBLE}, weights)


def upscaler(path: Path, scale: int, kernel: np.ndarray, *, weights: Sequence[onnx.TensorProto] = ()) -> Path:
    """Each channel under `kernel` (k, k), black around, then each pixel `scale` x `scale` times. Any size."""
    graph = Graph()
    weight = np.repeat(kernel[None, None], 3, axis=0)
    blurred = graph.add("Conv", "input", weight, group=3, pads=[len(kernel) // 2] * 4)
    enlarged = np.array([1, 1, scale, scale], np.float32)
    graph.add("Resize", blurred, "", enlarged, out="output", **NEAREST)
    return graph.write(path, {"input": ("n", 3, "h", "w")}, {"output": ("n", 3, "H", "W")}, weights=weights)


def xseg(path: Path) -> Path:
    """1 where blue is more than half, else 0."""
    graph = Graph()
    bright = graph.add("Greater", graph.channel("input", 0, 3), np.array(0.5, np.float32))
    graph.add("Cast", bright, out="output", to=FLOAT)
    return graph.write(path, {"input": (1, 256, 256, 3)}, {"output": (1, 256, 256, 1)})


def bisenet(path: Path, classes: Mapping[int, Sequence[float]]) -> Path:
    """Scores of the classes are the channels (red, green, blue) times these figures; those not named are far below."""
    weight, bias = np.zeros((19, 3, 1, 1)), np.full(19, -100.0)
    for number, factors in classes.items():
        weight[number, :, 0, 0], bias[number] = factors, 0
    graph = Graph()
    graph.add("Conv", "input", weight, bias, out="output")
    return graph.write(path, {"input": (1, 3, 512, 512)}, {"output": (1, 19, 512, 512)})


def feature_extractor(path: Path) -> Path:
    """LivePortrait's look: means of 4 x 4 pixels in the first three of 32 channels, all 16 depths alike."""
    graph = Graph()
    cells = graph.add("AveragePool", "input", kernel_shape=[4, 4], strides=[4, 4])
    deep = graph.add("Unsqueeze", graph.add("Pad", cells, np.array([0, 0, 0, 0, 0, 29, 0, 0], np.int64)),
                     np.array([2], np.int64))  # fmt: skip
    graph.add("Expand", deep, np.array([1, 32, 16, 64, 64], np.int64), out="feature_volume")
    return graph.write(path, {"input": (1, 3, 256, 256)}, {"feature_volume": (1, 32, 16, 64, 64)})


MOTION = {"pitch": (1,), "yaw": (1,), "roll": (1,), "scale": (1,), "translation": (3,), "expression": (21, 3),
          "motion_points": (21, 3)}  # fmt: skip
"""LivePortrait's motion: outputs and their inner shapes."""


def motion_extractor(path: Path, factors: Mapping[str, np.ndarray], rest: Mapping[str, np.ndarray]) -> Path:
    """Each output is the means of the channels times its `factors` (3, n) plus its `rest` (n,)."""
    graph = Graph()
    means = graph.add("ReduceMean", "input", axes=[2, 3], keepdims=0)
    for name, shape in MOTION.items():
        flat = graph.add("Add", graph.add("MatMul", means, factors[name]), rest[name][None])
        graph.add("Reshape", flat, np.array([-1, *shape], np.int64), out=name)
    return graph.write(path, {"input": (1, 3, 256, 256)}, {name: (1, *shape) for name, shape in MOTION.items()})


def generator(path: Path) -> Path:
    """LivePortrait's picture: the look enlarged to 512 pixels plus the mean of `source` less `target` over the points
    (x for red, y for green, z for blue).
    """
    graph = Graph()
    bounds = (np.array(ends, np.int64) for ends in ([0, 0], [3, 1], [1, 2]))
    small = graph.add("Squeeze", graph.add("Slice", "feature_volume", *bounds), np.array([2], np.int64))
    large = graph.add("Resize", small, "", np.array([1, 1, 8, 8], np.float32), **NEAREST)
    moved = graph.add("ReduceMean", graph.add("Sub", "source", "target"), axes=[1], keepdims=0)
    graph.add("Add", large, graph.add("Unsqueeze", moved, np.array([2, 3], np.int64)), out="output")
    inputs = {"feature_volume": (1, 32, 16, 64, 64), "source": (1, 21, 3), "target": (1, 21, 3)}
    return graph.write(path, inputs, {"output": (1, 3, 512, 512)})


def _blue(graph: Graph) -> str:
    """(n, 1, 1) mean of the first channel, which the field feeds with blue."""
    mean = graph.add("ReduceMean", graph.channel("input", 0, 1), axes=[2, 3], keepdims=0)
    return graph.add("Unsqueeze", mean, np.array([2], np.int64))


def _blob(graph: Graph) -> str:
    """(n, 1, 3) middle x, y of the first channel's mass on the grid of 64, and 0."""
    blue = graph.channel("input", 0, 1)
    mass = graph.add("ReduceSum", blue, np.array([2, 3], np.int64), keepdims=1)
    places = np.arange(256) / 4
    parts = [
        graph.add(
            "Div", graph.add("ReduceSum", graph.add("Mul", blue, grid), np.array([2, 3], np.int64), keepdims=1), mass
        )
        for grid in (places[None, None, None, :], places[None, None, :, None], np.zeros((1, 1, 1, 1)))
    ]
    flat = graph.add("Concat", *parts, axis=3)
    return graph.add("Squeeze", flat, np.array([1], np.int64))
