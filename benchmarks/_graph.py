"""A small writer of ONNX networks that counts what it writes: parameters, and multiply-adds of one item."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
Shape = tuple[int, ...]
"""Without the batch axis."""


class Graph:
    """Layers with random weights, each scaled so that values keep their size. Tensors go by their names."""

    def __init__(self, seed: int, **inputs: Shape) -> None:
        self.parameters = 0
        self.multiply_adds = 0
        """Of convolutions and matrices, for one item."""
        self._rng = np.random.default_rng(seed)
        self._inputs = inputs
        self._shapes: dict[str, Shape] = dict(inputs)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def shape(self, name: str) -> Shape:
        """Of a tensor, without its batch axis."""
        return self._shapes[name]

    def weight(self, value: NDArray[np.generic]) -> str:
        """An initializer; floating-point ones count as parameters."""
        name = f"w{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(value, name))
        self.parameters += value.size if value.dtype == np.float32 else 0
        return name

    def random(self, shape: Shape, spread: float) -> str:
        """A normally distributed initializer."""
        return self.weight(self._rng.standard_normal(shape, dtype=np.float32) * np.float32(spread))

    def node(self, kind: str, inputs: Sequence[str], shape: Shape, output: str = "", **attributes: object) -> str:
        """Any operator; `shape` is that of its output."""
        output = output or f"t{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        self._shapes[output] = shape
        return output

    def same(self, kind: str, *inputs: str, output: str = "", **attributes: object) -> str:
        """An operator whose output has the shape of its first input."""
        return self.node(kind, inputs, self.shape(inputs[0]), output, **attributes)

    def conv(
        self, source: str, channels: int, side: int = 3, stride: int = 1, *, pad: int | None = None, gain: float = 2.0
    ) -> str:
        """A convolution with bias; `gain` over its fan-in is the variance of its weights (2 keeps a ReLU's scale)."""
        depth, height, width = self.shape(source)
        pad = side // 2 if pad is None else pad
        inner = (channels, *((length + 2 * pad - side) // stride + 1 for length in (height, width)))
        kernel = self.random((channels, depth, side, side), math.sqrt(gain / (depth * side * side)))
        bias = self.weight(np.zeros(channels, np.float32))
        self.multiply_adds += math.prod(inner) * depth * side * side
        return self.node("Conv", [source, kernel, bias], inner, pads=[pad] * 4, strides=[stride] * 2)

    def dense(self, source: str, size: int, *, gain: float = 1.0, bias: float = 0.0) -> str:
        """A matrix and a bias on a vector."""
        (width,) = self.shape(source)
        matrix = self.random((size, width), math.sqrt(gain / width))
        self.multiply_adds += size * width
        return self.node("Gemm", [source, matrix, self.weight(np.full(size, bias, np.float32))], (size,), transB=1)

    def norm(self, source: str) -> str:
        """A batch normalisation as trained: near to leaving the values as they are."""
        channels = self.shape(source)[0]
        ones, zeros = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        parts = [self.weight(value) for value in (ones, zeros, zeros, ones)]
        return self.same("BatchNormalization", source, *parts)

    def leaky(self, source: str, slope: float = 0.2) -> str:
        return self.same("LeakyRelu", source, alpha=slope)

    def swish(self, source: str) -> str:
        return self.same("Mul", source, self.same("Sigmoid", source))

    def concat(self, *sources: str) -> str:
        """Along the channels."""
        inner = self.shape(sources[0])[1:]
        return self.node("Concat", sources, (sum(self.shape(name)[0] for name in sources), *inner), axis=1)

    def split(self, source: str, parts: int) -> list[str]:
        """The channels in equal parts."""
        channels, *inner = self.shape(source)
        outputs = [f"t{len(self._nodes)}_{part}" for part in range(parts)]
        sizes = self.weight(np.full(parts, channels // parts, np.int64))
        self._nodes.append(helper.make_node("Split", [source, sizes], outputs, axis=1))
        self._shapes.update(dict.fromkeys(outputs, (channels // parts, *inner)))
        return outputs

    def enlarge(self, source: str, mode: str) -> str:
        """Twice as high and wide; `mode` is `linear` or `nearest`."""
        channels, height, width = self.shape(source)
        scales = self.weight_of([1, 1, 2, 2])
        how = {"mode": mode} | ({"coordinate_transformation_mode": "asymmetric"} if mode == "nearest" else {})
        return self.node("Resize", [source, "", scales], (channels, 2 * height, 2 * width), **how)

    def weight_of(self, values: Sequence[float]) -> str:
        """A few float constants, which are no parameters."""
        name = self.weight(np.array(values, np.float32))
        self.parameters -= len(values)
        return name

    def integers(self, *values: int) -> str:
        """An int64 constant."""
        return self.weight(np.array(values, np.int64))

    def reshape(self, source: str, *shape: int, output: str = "") -> str:
        """To another shape; the batch axis stays."""
        return self.node("Reshape", [source, self.integers(0, *shape)], shape, output)

    def write(self, path: Path, outputs: Sequence[str], types: Mapping[str, int] | None = None) -> None:
        """The file, for one item as most files of the field. It is whole or not there."""
        kinds = types or {}
        ports = [
            [
                helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), [1, *self.shape(name)])
                for name in names
            ]
            for names in (self._inputs, outputs)
        ]
        graph = helper.make_graph(self._nodes, path.stem, *ports, self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        part = path.with_suffix(".part")
        onnx.save_model(model, str(part))
        part.rename(path)
