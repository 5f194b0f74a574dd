"""ncnn .param and .bin of the SPAN family -> ONNX. `image` (N,H,W,3) RGB 0..1 -> `output` (N,sH,sW,3)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from graph import GraphBuilder

HALF_TAG = 0x01306B47
"""First four bytes of weights that are stored as float16."""
BINARY = {0: "Add", 1: "Sub", 2: "Mul", 3: "Div"}


class Layer(NamedTuple):
    """One line of a .param file."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    options: dict[int, float]

    @classmethod
    def parse(cls, line: str) -> Layer:
        """`Kind name inputs outputs input... output... key=value...`"""
        kind, _, input_count, output_count, *rest = line.split()
        ends = int(input_count), int(input_count) + int(output_count)
        pairs = (pair.split("=") for pair in rest[ends[1] :])
        return cls(kind, rest[: ends[0]], rest[ends[0] : ends[1]], {int(key): float(value) for key, value in pairs})


class Weights:
    """The .bin file, read front to back."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def plain(self, count: int) -> NDArray[np.float32]:
        """`count` float32 values."""
        values = np.frombuffer(self.data, "<f4", count, self.position)
        self.position += 4 * count
        return values

    def tagged(self, count: int) -> NDArray[np.float32]:
        """`count` values behind a tag that says how they are stored; float16 is padded to whole words."""
        tag = int.from_bytes(self.data[self.position : self.position + 4], "little")
        self.position += 4
        if tag == 0:
            return self.plain(count)
        if tag != HALF_TAG:
            raise ValueError(f"unknown weight storage {tag:#x}")
        values = np.frombuffer(self.data, "<f2", count, self.position).astype(np.float32)
        self.position += (2 * count + 3) // 4 * 4
        return values


class _Span(GraphBuilder):
    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = weights

    def weight(self, array: NDArray[np.generic] | np.generic) -> str:
        return self.constant(array, self.new_name("c", separator=""))

    def layer(self, layer: Layer, inputs: list[str]) -> str:
        """Value of a layer with one output."""
        options = layer.options
        match layer.kind:
            case "Input":
                return self.op("Transpose", ["image"], perm=[0, 3, 1, 2])
            case "MemoryData":
                sizes = [int(options[key]) for key in (2, 1, 0) if options.get(key)]
                sizes = [1] * (3 - len(sizes)) + sizes
                return self.weight(self.weights.plain(int(np.prod(sizes))).reshape(1, *sizes))
            case "Split":
                return inputs[0]
            case "Convolution":
                return self.convolution(inputs[0], options)
            case "Sigmoid":
                return self.op("Sigmoid", inputs)
            case "Swish":
                return self.op("Mul", [inputs[0], self.op("Sigmoid", inputs)])
            case "PixelShuffle":
                return self.op("DepthToSpace", inputs, blocksize=int(options[0]), mode="CRD")
            case "BinaryOp":
                second = self.weight(np.float32(options[2])) if options.get(1) else inputs[1]
                return self.op(BINARY[int(options.get(0, 0))], [inputs[0], second])
            case "Concat":
                return self.op("Concat", inputs, axis=1)
        raise NotImplementedError(f"ncnn layer {layer.kind}")

    def convolution(self, value: str, options: dict[int, float]) -> str:
        """Square kernel; options: 0 filters, 1 kernel, 3 stride, 4 pad, 5 with bias, 6 number of weights."""
        filters, kernel, count = (int(options[key]) for key in (0, 1, 6))
        stride, pad = int(options.get(3, 1)), int(options.get(4, 0))
        weights = self.weights.tagged(count).reshape(filters, count // (filters * kernel * kernel), kernel, kernel)
        inputs = [value, self.weight(weights)]
        if options.get(5):
            inputs.append(self.weight(self.weights.plain(filters)))
        return self.op("Conv", inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)


def convert(param: Path, weights: Path, name: str) -> onnx.ModelProto:
    """Read both files and build the network."""
    reader = Weights(weights.read_bytes())
    net = _Span(reader)
    values: dict[str, str] = {}
    result = ""
    for line in param.read_text().splitlines()[2:]:
        layer = Layer.parse(line)
        result = net.layer(layer, [values[key] for key in layer.inputs])
        values |= dict.fromkeys(layer.outputs, result)
    if reader.position != len(reader.data):
        raise ValueError(f"{weights}: {len(reader.data) - reader.position} bytes of weights are left")
    net.nodes.append(helper.make_node("Transpose", [result], ["output"], perm=[0, 2, 3, 1]))
    return net.model(name, {"image": ["N", "H", "W", 3]}, {"output": ["N", "OH", "OW", 3]}, "convert_ncnn.py")
