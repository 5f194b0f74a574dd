"""dlib_face_recognition_resnet_model_v1.dat -> ONNX.

The parameters of the layers con_4, affine_ and fc_2 stand in the serialised stream in the order of the forward pass;
the 29-layer network around them is dlib's published one. Affine layers (frozen batch norm) are folded into the
convolutions. `image` (N,150,150,3) RGB 0..255 -> `embedding` (N,128), not normalised.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from graph import GraphBuilder

MEAN_RGB = (122.782, 117.001, 104.298)
"""What dlib's input layer subtracts before it divides by 256."""
CHIP_SIZE = 150
DOWN = (0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1)
"""For each residual block, whether it halves the size."""


class Convolution(NamedTuple):
    """Weights followed by biases, and the layer's sizes as they stand in the file."""

    parameters: NDArray[np.float32]
    filters: int
    rows: int
    columns: int
    stride_y: int
    stride_x: int
    pad_y: int
    pad_x: int


class Stream:
    """dlib's serialisation: integers of variable length, tensors of four dimensions."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def tags(self, tag: str) -> list[int]:
        """Positions behind each string `tag` (an integer length, then the characters)."""
        pattern = bytes([1, len(tag)]) + tag.encode()
        found, position = [], 0
        while (position := self.data.find(pattern, position)) >= 0:
            position += len(pattern)
            found.append(position)
        return found

    def integer(self, position: int) -> tuple[int, int]:
        """A number and the position behind it: low four bits = bytes that follow, high bit = sign."""
        head = self.data[position]
        end = position + 1 + (head & 0x0F)
        value = int.from_bytes(self.data[position + 1 : end], "little")
        return (-value if head & 0x80 else value), end

    def integers(self, count: int, position: int) -> tuple[list[int], int]:
        """`count` numbers and the position behind them."""
        values = []
        for _ in range(count):
            value, position = self.integer(position)
            values.append(value)
        return values, position

    def tensor(self, position: int) -> tuple[NDArray[np.float32], int]:
        """A flat float32 tensor and the position behind it."""
        (version, *sizes), position = self.integers(5, position)
        if version != 2:
            raise ValueError(f"dlib tensor of version {version}, expected 2")
        count = int(np.prod(sizes))
        return np.frombuffer(self.data, "<f4", count, position), position + 4 * count


def read_layers(data: bytes) -> tuple[list[Convolution], list[NDArray[np.float32]], NDArray[np.float32]]:
    """Convolutions, affine layers as (2, filters), and the last matrix as (inputs, 128)."""
    stream = Stream(data)
    convolutions = []
    for position in stream.tags("con_4"):
        parameters, position = stream.tensor(position)
        sizes, _ = stream.integers(7, position)
        convolutions.append(Convolution(parameters, *sizes))
    affines = [stream.tensor(position)[0].reshape(2, -1) for position in stream.tags("affine_")]
    (position,) = stream.tags("fc_2")
    (outputs, inputs), position = stream.integers(2, position)
    matrix = stream.tensor(position)[0][: outputs * inputs].reshape(inputs, outputs)
    return convolutions, affines, matrix


class _Resnet(GraphBuilder):
    def __init__(self, convolutions: list[Convolution], affines: list[NDArray[np.float32]]) -> None:
        super().__init__()
        self.layers = list(zip(convolutions, affines, strict=True))
        self.used = 0

    def convolution(self, value: str, channels: int, size: int) -> tuple[str, int, int]:
        """The next convolution with its affine layer folded in; returns value, channels, size."""
        layer, (gain, offset) = self.layers[self.used]
        count = layer.filters * channels * layer.rows * layer.columns
        weights = layer.parameters[:count].reshape(layer.filters, channels, layer.rows, layer.columns)
        bias = layer.parameters[count:]
        result = self.op(
            "Conv",
            [
                value,
                self.constant(weights * gain[:, None, None, None], f"w{self.used}"),
                self.constant(bias * gain + offset, f"b{self.used}"),
            ],
            kernel_shape=[layer.rows, layer.columns],
            strides=[layer.stride_y, layer.stride_x],
            pads=[layer.pad_y, layer.pad_x, layer.pad_y, layer.pad_x],
        )
        self.used += 1
        return result, layer.filters, shrunk(size, layer.rows, layer.stride_y, layer.pad_y)

    def padded(self, value: str, missing_channels: int, missing_size: int) -> str:
        """Zeros behind the channels, the rows and the columns, as dlib's add_prev does."""
        if not missing_channels and not missing_size:
            return value
        pads = np.array([0, 0, 0, 0, 0, missing_channels, missing_size, missing_size], np.int64)
        return self.op("Pad", [value, self.constant(pads, f"p{self._count}"), "zero"])

    def block(self, value: str, channels: int, size: int, down: int) -> tuple[str, int, int]:
        """A residual block; where it halves the size, the short way is an average pool."""
        branch, branch_channels, branch_size = self.convolution(value, channels, size)
        branch = self.op("Relu", [branch])
        branch, branch_channels, branch_size = self.convolution(branch, branch_channels, branch_size)
        if down:
            value = self.op("AveragePool", [value], kernel_shape=[2, 2], strides=[2, 2])
            size = shrunk(size, 2, 2, 0)
        all_channels, full = max(channels, branch_channels), max(size, branch_size)
        total = self.op(
            "Add",
            [
                self.padded(branch, all_channels - branch_channels, full - branch_size),
                self.padded(value, all_channels - channels, full - size),
            ],
        )
        return self.op("Relu", [total]), all_channels, full


def shrunk(size: int, kernel: int, stride: int, pad: int) -> int:
    """Side of what a kernel leaves of a square."""
    return (size + 2 * pad - kernel) // stride + 1


def convert(source: Path) -> onnx.ModelProto:
    """Read the .dat file and build the network."""
    convolutions, affines, matrix = read_layers(source.read_bytes())
    net = _Resnet(convolutions, affines)
    net.constant(np.float32(0), "zero")
    value = net.op("Transpose", ["image"], perm=[0, 3, 1, 2])
    mean = net.constant(np.array(MEAN_RGB, np.float32).reshape(1, 3, 1, 1), "mean")
    value = net.op("Sub", [value, mean])
    value = net.op("Div", [value, net.constant(np.float32(256), "s256")])
    value, channels, size = net.convolution(value, 3, CHIP_SIZE)
    value = net.op("MaxPool", [net.op("Relu", [value])], kernel_shape=[3, 3], strides=[2, 2])
    size = shrunk(size, 3, 2, 0)
    for down in DOWN:
        value, channels, size = net.block(value, channels, size, down)
    value = net.op("Flatten", [net.op("GlobalAveragePool", [value])])
    net.nodes.append(helper.make_node("MatMul", [value, net.constant(matrix, "fc")], ["embedding"]))
    return net.model(
        "dlib_face_recognition_resnet_v1",
        {"image": ["N", CHIP_SIZE, CHIP_SIZE, 3]},
        {"embedding": ["N", matrix.shape[1]]},
        "convert_dlib.py",
    )
