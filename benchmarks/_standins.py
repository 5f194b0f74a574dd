"""Stand-ins for the field's networks: their architectures, with random weights; what they say means nothing.

Names, shapes, layers, numbers of parameters and operations are those of the originals: inswapper_128 (138.6 million
parameters, 174.6 G multiply-adds), ArcFace on an IResNet-50 (43.6 M, 6.3 G), YOLOv8n for faces (3.1 M, 4.4 G), a face
alignment network of four hourglasses (24 M), FairFace on a ResNet-34 (21 M, 3.7 G) and GFPGAN's clean variant at 512
pixels. Made once, kept in benchmarks/work. Needs the package `onnx`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import TensorProto

from _graph import Graph
from _measure import WORK

EMBEDDING = 512
FAITHFUL = 0.045
"""Contrast of the swapper at which small changes of a crop neither grow nor shrink, as in one that was trained."""
MODELS = WORK / "models"


def stand_ins(*names: str, folder: Path = MODELS) -> Path:
    """The folder, with these networks in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not (folder / f"{name}.onnx").exists():
            NETWORKS[name](folder / f"{name}.onnx")
    return folder


def free_stand_ins(folder: Path = WORK / "free_models") -> Path:
    """The folder of a swapper and its recogniser that cost next to nothing, with the same inputs and outputs."""
    from support.contract_networks import arcface, emap_weight, swapper

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    emap = emap_weight(np.eye(EMBEDDING, dtype=np.float32))
    tint = rng.standard_normal((EMBEDDING, 3)) * 0.1
    swapper(folder / "inswapper_128.onnx", 128, tint, shift=(0.2, 0, -0.2), weights=[emap])
    arcface(folder / "arcface_w600k_r50.onnx", rng.standard_normal((588, EMBEDDING)))
    return folder


def inswapper(path: Path, *, width: int = 128, blocks: int = 6, side: int = 128) -> Graph:
    """InsightFace's swapper: an encoder, residual blocks styled by the source, a decoder. The emap comes last."""
    graph = Graph(1, target=(3, side, side), source=(EMBEDDING,))
    value = graph.leaky(graph.conv(_mirrored(graph, "target", 3), width, 7, pad=0))
    for factor, stride in ((2, 1), (4, 2), (8, 2)):
        value = graph.leaky(graph.conv(value, factor * width, 3, stride))
    for _ in range(blocks):
        value = graph.same("Add", value, _styled(graph, value))
    for factor, grows in ((4, True), (2, True), (1, False)):
        value = graph.leaky(graph.conv(graph.enlarge(value, "linear") if grows else value, factor * width))
    value = graph.same("Tanh", graph.conv(_mirrored(graph, value, 3), 3, 7, pad=0, gain=FAITHFUL))
    value = graph.same("Mul", graph.same("Add", value, graph.weight_of([1])), graph.weight_of([0.5]), output="output")
    graph.random((EMBEDDING, EMBEDDING), 1 / math.sqrt(EMBEDDING))
    graph.write(path, [value])
    return graph


def _mirrored(graph: Graph, source: str, margin: int) -> str:
    channels, height, width = graph.shape(source)
    pads = graph.integers(0, 0, margin, margin, 0, 0, margin, margin)
    return graph.node("Pad", [source, pads], (channels, height + 2 * margin, width + 2 * margin), mode="reflect")


def _styled(graph: Graph, source: str) -> str:
    """Twice a convolution and a normalisation of each channel that the source's vector scales and shifts."""
    channels = graph.shape(source)[0]
    value = source
    for last in (False, True):
        value = graph.conv(_mirrored(graph, value, 1), channels, pad=0)
        value = graph.same("Sub", value, _mean(graph, value))
        spread = graph.same("Add", _mean(graph, graph.same("Mul", value, value)), graph.weight_of([1e-8]))
        value = graph.same("Div", value, graph.same("Sqrt", spread))
        style = graph.reshape(graph.dense("source", 2 * channels, gain=0.1 * EMBEDDING), 2 * channels, 1, 1)
        scale, shift = graph.split(style, 2)
        value = graph.same("Mul", value, graph.same("Add", scale, graph.weight_of([1])))
        value = graph.same("Add", value, shift)
        value = value if last else graph.same("Relu", value)
    return value


def _mean(graph: Graph, source: str) -> str:
    return graph.node("ReduceMean", [source], (graph.shape(source)[0], 1, 1), axes=[2, 3], keepdims=1)


def arcface(path: Path, *, depths: tuple[int, ...] = (3, 4, 14, 3), width: int = 64, side: int = 112) -> Graph:
    """InsightFace's recogniser, an IResNet."""
    graph = Graph(2, input=(3, side, side))
    value = _prelu(graph, graph.conv("input", width))
    for stage, depth in enumerate(depths):
        for place in range(depth):
            value = _residual(graph, value, width << stage, 1 if place else 2)
    value = graph.norm(value)
    flat = graph.reshape(value, math.prod(graph.shape(value)))
    graph.write(path, [graph.same("Identity", graph.dense(flat, EMBEDDING), output="embedding")])
    return graph


def _prelu(graph: Graph, source: str) -> str:
    slopes = graph.weight(np.full((graph.shape(source)[0], 1, 1), 0.25, np.float32))
    return graph.same("PRelu", source, slopes)


def _residual(graph: Graph, source: str, channels: int, stride: int) -> str:
    beside = source if stride == 1 else graph.conv(source, channels, 1, stride, gain=1)
    value = _prelu(graph, graph.conv(graph.norm(source), channels, gain=1))
    return graph.same("Add", graph.conv(value, channels, 3, stride, gain=0.2), beside)


def yolo_face(path: Path, *, width: int = 16, side: int = 640) -> Graph:
    """YOLOv8n with five points: boxes, a score near 0 and points at three sizes."""
    graph = Graph(3, input=(3, side, side))
    value = _unit(graph, _unit(graph, "input", width, 3, 2), 2 * width, 3, 2)
    value = _c2f(graph, value, 2 * width, 1, adds=True)
    fine = _c2f(graph, _unit(graph, value, 4 * width, 3, 2), 4 * width, 2, adds=True)
    middle = _c2f(graph, _unit(graph, fine, 8 * width, 3, 2), 8 * width, 2, adds=True)
    coarse = _c2f(graph, _unit(graph, middle, 16 * width, 3, 2), 16 * width, 1, adds=True)
    coarse = _pyramid_pool(graph, coarse, 16 * width)
    middle = _c2f(graph, graph.concat(graph.enlarge(coarse, "nearest"), middle), 8 * width, 1)
    fine = _c2f(graph, graph.concat(graph.enlarge(middle, "nearest"), fine), 4 * width, 1)
    middle = _c2f(graph, graph.concat(_unit(graph, fine, 4 * width, 3, 2), middle), 8 * width, 1)
    coarse = _c2f(graph, graph.concat(_unit(graph, middle, 8 * width, 3, 2), coarse), 16 * width, 1)
    heads = [_detections(graph, level, stride, 4 * width) for level, stride in ((fine, 8), (middle, 16), (coarse, 32))]
    columns = sum(graph.shape(head)[1] for head in heads)
    graph.write(path, [graph.node("Concat", heads, (20, columns), "output0", axis=2)])
    return graph


def _unit(graph: Graph, source: str, channels: int, side: int = 3, stride: int = 1) -> str:
    return graph.swish(graph.conv(source, channels, side, stride, gain=2.5))


def _c2f(graph: Graph, source: str, channels: int, depth: int, *, adds: bool = False) -> str:
    parts = graph.split(_unit(graph, source, channels, 1), 2)
    for _ in range(depth):
        value = _unit(graph, _unit(graph, parts[-1], channels // 2), channels // 2)
        parts.append(graph.same("Add", value, parts[-1]) if adds else value)
    return _unit(graph, graph.concat(*parts), channels, 1)


def _pyramid_pool(graph: Graph, source: str, channels: int) -> str:
    parts = [_unit(graph, source, channels // 2, 1)]
    for _ in range(3):
        parts.append(graph.same("MaxPool", parts[-1], kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1]))
    return _unit(graph, graph.concat(*parts), channels, 1)


def _detections(graph: Graph, source: str, stride: int, width: int) -> str:
    """(20, cells): a box from distributions over 16 distances, a score, five points with their confidence."""
    _, rows, columns = graph.shape(source)
    cells = rows * columns
    boxes, scores, points = (
        graph.reshape(
            graph.conv(_unit(graph, _unit(graph, source, inner), inner), channels, 1, gain=1), channels, cells
        )
        for inner, channels in ((width, 64), (width, 1), (max(width // 4, 15), 15))
    )
    bins = graph.same("Softmax", graph.reshape(boxes, 4, 16, cells), axis=2)
    steps = graph.same("Mul", bins, graph.weight(np.arange(16, dtype=np.float32).reshape(1, 1, 16, 1) * stride))
    distances = graph.node("ReduceSum", [steps, graph.integers(2)], (4, cells), keepdims=0)
    surely_none = graph.same("Sigmoid", graph.same("Sub", scores, graph.weight_of([20])))
    return graph.concat(distances, surely_none, graph.same("Mul", points, graph.weight_of([stride])))


def fan(path: Path, *, hourglasses: int = 4, width: int = 256, side: int = 256) -> Graph:
    """The face alignment network: hourglasses one after the other, 68 heat maps, and where each has its peak."""
    graph = Graph(4, input=(3, side, side))
    value = graph.same("Relu", graph.conv("input", width // 4, 7, 2))
    value = _dense_block(graph, _pooled(graph, _dense_block(graph, value, width // 2)), width // 2)
    value = _dense_block(graph, value, width)
    heat = ""
    for place in range(hourglasses):
        features = _dense_block(graph, _hourglass(graph, value, width, 4), width)
        features = graph.same("Relu", graph.conv(features, width, 1))
        heat = graph.conv(features, 68, 1, gain=1)
        if place + 1 < hourglasses:
            value = graph.same("Add", value, graph.conv(features, width, 1, gain=0.2))
            value = graph.same("Add", value, graph.conv(heat, width, 1, gain=0.2))
    graph.write(path, [_peaks(graph, heat), graph.same("Sigmoid", heat, output="heatmaps")])
    return graph


def _pooled(graph: Graph, source: str) -> str:
    channels, height, width = graph.shape(source)
    return graph.node("AveragePool", [source], (channels, height // 2, width // 2), kernel_shape=[2, 2], strides=[2, 2])


def _dense_block(graph: Graph, source: str, channels: int) -> str:
    """Three convolutions side by side and one after the other, added to what came in."""
    parts = [source]
    for size in (channels // 2, channels // 4, channels // 4):
        parts.append(graph.conv(graph.same("Relu", graph.norm(parts[-1])), size))
    narrower = graph.shape(source)[0] != channels
    beside = graph.conv(graph.same("Relu", graph.norm(source)), channels, 1) if narrower else source
    return graph.same("Mul", graph.same("Add", graph.concat(*parts[1:]), beside), graph.weight_of([math.sqrt(0.5)]))


def _hourglass(graph: Graph, source: str, width: int, depth: int) -> str:
    beside = _dense_block(graph, source, width)
    lower = _dense_block(graph, _pooled(graph, source), width)
    lower = _hourglass(graph, lower, width, depth - 1) if depth > 1 else _dense_block(graph, lower, width)
    raised = graph.enlarge(_dense_block(graph, lower, width), "nearest")
    return graph.same("Mul", graph.same("Add", beside, raised), graph.weight_of([math.sqrt(0.5)]))


def _peaks(graph: Graph, heat: str) -> str:
    """(68, 3) column, row and height of each map's peak."""
    points, height, width = graph.shape(heat)
    flat = graph.reshape(heat, points, height * width)
    place = graph.node("ArgMax", [flat], (points, 1), axis=2, keepdims=1)
    side = graph.integers(width)
    parts = [
        graph.same("Cast", graph.same("Mod", place, side), to=TensorProto.FLOAT),
        graph.same("Cast", graph.same("Div", place, side), to=TensorProto.FLOAT),
        graph.node("ReduceMax", [flat], (points, 1), axes=[2], keepdims=1),
    ]
    return graph.node("Concat", parts, (points, 3), "landmarks", axis=2)


def fairface(path: Path, *, depths: tuple[int, ...] = (3, 4, 6, 3), width: int = 64, side: int = 224) -> Graph:
    """A ResNet-34 and the numbers of the likeliest race, gender and age."""
    graph = Graph(5, input=(3, side, side))
    value = graph.same("Relu", graph.conv("input", width, 7, 2))
    channels, height, _ = graph.shape(value)
    half = (channels, height // 2, height // 2)
    value = graph.node("MaxPool", [value], half, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stage, depth in enumerate(depths):
        for place in range(depth):
            value = _basic(graph, value, width << stage, 2 if stage and not place else 1)
    scores = graph.dense(graph.reshape(_mean(graph, value), graph.shape(value)[0]), 18)
    names = ("race_id", "gender_id", "age_id")
    for name, first, end in zip(names, (0, 7, 9), (7, 9, 18), strict=True):
        bounds = [graph.integers(number) for number in (first, end, 1)]
        part = graph.node("Slice", [scores, *bounds], (end - first,))
        graph.node("ArgMax", [part], (), name, axis=1, keepdims=0)
    graph.write(path, names, dict.fromkeys(names, TensorProto.INT64))
    return graph


def _basic(graph: Graph, source: str, channels: int, stride: int) -> str:
    beside = source if graph.shape(source)[0] == channels else graph.conv(source, channels, 1, stride, gain=1)
    value = graph.conv(graph.same("Relu", graph.conv(source, channels, 3, stride)), channels, gain=0.2)
    return graph.same("Relu", graph.same("Add", value, beside))


def gfpgan(path: Path, *, width: int = 512, side: int = 512) -> Graph:
    """GFPGAN's clean variant: a U-shaped encoder, a style for every layer from its bottom, and a decoder of styled
    convolutions of which half of the channels are scaled and shifted by the encoder's levels.
    """
    graph = Graph(6, input=(3, side, side))
    levels = int(math.log2(side)) - 2
    wide = [min(width, 8 * width >> place) for place in range(levels + 1)]
    narrow = [channels // 2 for channels in wide]
    value = graph.leaky(graph.conv("input", narrow[-1], 1))
    encoded: list[str] = []
    for place in reversed(range(levels)):
        inner = graph.leaky(graph.conv(value, graph.shape(value)[0]))
        inner = graph.leaky(graph.conv(_pooled(graph, inner), narrow[place]))
        value = graph.same("Add", inner, graph.conv(_pooled(graph, value), narrow[place], 1, gain=0.2))
        encoded.append(value)
    flat = graph.reshape(value, math.prod(graph.shape(value)))
    styles = graph.split(graph.dense(flat, 2 * (levels + 1) * width), 2 * (levels + 1))
    value, picture = _widened(graph, value, wide[0]), ""
    for place in range(levels + 1):
        value = graph.enlarge(value, "linear") if place else value
        value = _modulated(graph, value, styles[2 * place], wide[place])
        value = _conditioned(graph, value, encoded[-1 - place]) if 0 < place < levels else value
        value = _modulated(graph, value, styles[2 * place + 1], wide[place])
        seen = graph.conv(value, 3, 1, gain=0.02)
        picture = graph.same("Add", graph.enlarge(picture, "linear"), seen) if picture else seen
    graph.write(path, [graph.same("Tanh", picture, output="output")])
    return graph


def _widened(graph: Graph, source: str, channels: int) -> str:
    return graph.leaky(graph.conv(source, channels))


def _conditioned(graph: Graph, source: str, condition: str) -> str:
    """The second half of the channels scaled and shifted by an encoder's level."""
    first, second = graph.split(source, 2)
    channels = graph.shape(second)[0]
    scale, shift = (
        graph.conv(_widened(graph, condition, graph.shape(condition)[0]), channels, gain=0.2) for _ in range(2)
    )
    return graph.concat(first, graph.same("Add", graph.same("Mul", second, scale), shift))


def _modulated(graph: Graph, source: str, style: str, channels: int) -> str:
    """A convolution of channels that a style has scaled."""
    depth = graph.shape(source)[0]
    scale = graph.reshape(graph.dense(style, depth, gain=0.02, bias=1.0), depth, 1, 1)
    return graph.leaky(graph.conv(graph.same("Mul", source, scale), channels))


NETWORKS: dict[str, Callable[[Path], Graph]] = {
    "inswapper_128": inswapper,
    "arcface_w600k_r50": arcface,
    "yoloface_8n": yolo_face,
    "2dfan4": fan,
    "fairface": fairface,
    "gfpgan_1.4": gfpgan,
}
