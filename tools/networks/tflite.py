"""TFLite -> ONNX for the MediaPipe networks.

Graph inputs and outputs keep TFLite's NHWC layout and get a free batch axis N; inside, activations of four dimensions
are NCHW. float16 weights are widened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray

from graph import GraphBuilder

TYPES = {
    schema.TensorType.FLOAT32: np.float32,
    schema.TensorType.FLOAT16: np.float16,
    schema.TensorType.INT32: np.int32,
}
OPERATORS = {number: name for name, number in vars(schema.BuiltinOperator).items() if isinstance(number, int)}
SHARED_SIZE = 65536
"""Constants with fewer values are stored once, however often they are used."""

Indices = list[int]
"""Numbers of tensors in the TFLite graph."""


def read(path: Path) -> Any:
    """The model as the generated schema's objects."""
    return schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))


def operator_name(model: Any, operator: Any) -> str:
    """`CONV_2D` and the like, or a custom operator's own name."""
    code = model.operatorCodes[operator.opcodeIndex]
    name = OPERATORS[max(code.builtinCode, code.deprecatedBuiltinCode)]
    return code.customCode.decode() if name == "CUSTOM" else name


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """TFLite's SAME padding: what is odd goes behind."""
    total = max((-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


class TfliteConverter(GraphBuilder):
    """One method per operator, named after it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tflite = read(path)
        self.graph = self.tflite.subgraphs[0]
        self.constants: dict[int, NDArray[Any]] = {}
        self.nchw: dict[int, str] = {}
        """Tensor -> value in NCHW."""
        self.plain: dict[int, str] = {}
        """Tensor -> value in TFLite's own layout."""
        self._shared: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        for index, tensor in enumerate(self.graph.tensors):
            data = self.tflite.buffers[tensor.buffer].data if tensor.buffer else None
            if data is not None and len(data) and tensor.type in TYPES:
                self.constants[index] = np.frombuffer(bytes(data), TYPES[tensor.type]).reshape(self.shape(index))

    def convert(self, name: str) -> onnx.ModelProto:
        """Build the network."""
        for index in self.graph.inputs:
            self.plain[index] = self.tensor_name(index)
        for operator in self.graph.operators:
            emit = getattr(self, operator_name(self.tflite, operator).lower())
            inputs, outputs = ([int(index) for index in side] for side in (operator.inputs, operator.outputs))
            emit(operator, inputs, outputs)
        for index in self.graph.outputs:
            self.rename(self.in_plain(index), self.tensor_name(index))
        return self.model(
            name,
            {self.tensor_name(index): ["N", *self.shape(index)[1:]] for index in self.graph.inputs},
            {self.tensor_name(index): ["N", *self.shape(index)[1:]] for index in self.graph.outputs},
            "convert_tflite.py",
        )

    # Tensors

    def tensor_name(self, index: int) -> str:
        return self.graph.tensors[index].name.decode()

    def shape(self, index: int) -> list[int]:
        return [int(size) for size in self.graph.tensors[index].shape]

    def constant(self, array: NDArray[Any] | np.generic, name: str | None = None, stem: str = "c") -> str:
        """As in GraphBuilder, small constants shared."""
        array = np.ascontiguousarray(array)
        if array.size >= SHARED_SIZE:
            return super().constant(array, name or self.new_name(stem))
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._shared:
            self._shared[key] = super().constant(array, name or self.new_name(stem))
        return self._shared[key]

    def integers(self, *values: int) -> str:
        """A vector of int64, as axes and sizes are given."""
        return self.constant(np.array(values, np.int64))

    def weight(self, index: int) -> NDArray[np.float32]:
        """A constant in float32."""
        return self.constants[index].astype(np.float32)

    def in_nchw(self, index: int) -> str:
        """A tensor of four dimensions, in NCHW."""
        if index in self.nchw:
            return self.nchw[index]
        if index in self.constants:
            values = self.weight(index)
            return self.constant(values.transpose(0, 3, 1, 2) if values.ndim == 4 else values)
        self.nchw[index] = self.op("Transpose", [self.plain[index]], perm=[0, 3, 1, 2])
        return self.nchw[index]

    def in_plain(self, index: int) -> str:
        """A tensor in TFLite's own layout."""
        if index in self.plain:
            return self.plain[index]
        if index in self.constants:
            return self.constant(self.constants[index])
        self.plain[index] = self.op("Transpose", [self.nchw[index]], perm=[0, 2, 3, 1])
        return self.plain[index]

    # Operators

    def dequantize(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        self.constants[outputs[0]] = self.weight(inputs[0])

    def conv_2d(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        weights = self.weight(inputs[1]).transpose(0, 3, 1, 2)  # from out, height, width, in
        self._convolution(operator.builtinOptions, inputs, outputs, weights)

    def depthwise_conv_2d(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        weights = self.weight(inputs[1]).transpose(3, 0, 1, 2)  # from 1, height, width, channels
        self._convolution(operator.builtinOptions, inputs, outputs, weights, group=self.shape(inputs[0])[3])

    def _convolution(
        self, options: Any, inputs: Indices, outputs: Indices, weights: NDArray[np.float32], **attributes: int
    ) -> None:
        operands = [self.in_nchw(inputs[0]), self.constant(weights, stem="w")]
        operands += [self.constant(self.weight(index), stem="b") for index in inputs[2:] if index >= 0]
        kernel = list(weights.shape[2:])
        dilations = [options.dilationHFactor, options.dilationWFactor]
        self.nchw[outputs[0]] = self.op(
            "Conv",
            operands,
            kernel_shape=kernel,
            strides=[options.strideH, options.strideW],
            dilations=dilations,
            pads=self._pads(inputs[0], kernel, dilations, options),
            **attributes,
        )

    def _pads(self, index: int, kernel: list[int], dilations: list[int], options: Any) -> list[int]:
        """Top, left, bottom, right."""
        if options.padding == schema.Padding.VALID:
            return [0, 0, 0, 0]
        _, height, width, _ = self.shape(index)
        top, bottom = same_padding(height, kernel[0], options.strideH, dilations[0])
        left, right = same_padding(width, kernel[1], options.strideW, dilations[1])
        return [top, left, bottom, right]

    def convolution2dtransposebias(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        """MediaPipe's own; here the stride is the kernel."""
        weights = self.weight(inputs[1])  # out, height, width, in
        kernel = list(weights.shape[1:3])
        operands = [
            self.in_nchw(inputs[0]),
            self.constant(weights.transpose(3, 0, 1, 2), stem="w"),
            self.constant(self.weight(inputs[2]), stem="b"),
        ]
        self.nchw[outputs[0]] = self.op("ConvTranspose", operands, kernel_shape=kernel, strides=kernel)

    def max_pool_2d(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        options = operator.builtinOptions
        kernel = [options.filterHeight, options.filterWidth]
        self.nchw[outputs[0]] = self.op(
            "MaxPool",
            [self.in_nchw(inputs[0])],
            kernel_shape=kernel,
            strides=[options.strideH, options.strideW],
            pads=self._pads(inputs[0], kernel, [1, 1], options),
        )

    def average_pool_2d(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        options = operator.builtinOptions
        if self.shape(inputs[0])[1:3] != [options.filterHeight, options.filterWidth]:
            raise NotImplementedError("an average pool that is not global")
        self.nchw[outputs[0]] = self.op("GlobalAveragePool", [self.in_nchw(inputs[0])])

    def pad(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        pads = self.constants[inputs[1]].astype(np.int64)[[0, 3, 1, 2]]
        operands = [self.in_nchw(inputs[0]), self.integers(*pads[:, 0], *pads[:, 1]), self.constant(np.float32(0))]
        self.nchw[outputs[0]] = self.op("Pad", operands)

    def add(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        self._binary("Add", inputs, outputs)

    def mul(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        self._binary("Mul", inputs, outputs)

    def _binary(self, kind: str, inputs: Indices, outputs: Indices) -> None:
        spatial = len(self.shape(outputs[0])) == 4 and all(len(self.shape(index)) in (0, 1, 4) for index in inputs)
        if spatial:
            self.nchw[outputs[0]] = self.op(kind, [self._over_channels(index) for index in inputs])
        else:
            self.plain[outputs[0]] = self.op(kind, [self.in_plain(index) for index in inputs])

    def _over_channels(self, index: int) -> str:
        values = self.constants.get(index)
        if values is not None and values.ndim == 1 and values.size > 1:
            return self.constant(self.weight(index).reshape(1, -1, 1, 1))
        return self.in_nchw(index)

    def relu(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        self.nchw[outputs[0]] = self.op("Relu", [self.in_nchw(inputs[0])])

    def logistic(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        self.nchw[outputs[0]] = self.op("Sigmoid", [self.in_nchw(inputs[0])])

    def hard_swish(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        self.nchw[outputs[0]] = self.op("HardSwish", [self.in_nchw(inputs[0])])

    def prelu(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        slopes = self.weight(inputs[1]).reshape(-1, 1, 1)
        self.nchw[outputs[0]] = self.op("PRelu", [self.in_nchw(inputs[0]), self.constant(slopes)])

    def resize_bilinear(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        options = operator.builtinOptions
        modes = {(True, False): "align_corners", (False, True): "half_pixel", (False, False): "asymmetric"}
        old, new = (np.array(self.shape(side[0])[1:3]) for side in (inputs, outputs))
        scales = np.array([1, 1, *(new / old)], np.float32)
        self.nchw[outputs[0]] = self.op(
            "Resize",
            [self.in_nchw(inputs[0]), "", self.constant(scales)],
            mode="linear",
            coordinate_transformation_mode=modes[bool(options.alignCorners), bool(options.halfPixelCenters)],
        )

    def reshape(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        operands = [self.in_plain(inputs[0]), self.integers(-1, *self.shape(outputs[0])[1:])]
        self.plain[outputs[0]] = self.op("Reshape", operands)

    def concatenation(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        axis = operator.builtinOptions.axis % len(self.shape(outputs[0]))
        self.plain[outputs[0]] = self.op("Concat", [self.in_plain(index) for index in inputs], axis=axis)

    def strided_slice(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        """All axes but the batch; no new or dropped axes."""
        options, sizes = operator.builtinOptions, self.shape(inputs[0])
        begin, end, stride = (self.constants[index].tolist() for index in inputs[1:4])
        axes = range(1, len(begin))
        operands = [
            self.in_plain(inputs[0]),
            self.integers(*(0 if options.beginMask >> axis & 1 else begin[axis] for axis in axes)),
            self.integers(*(sizes[axis] if options.endMask >> axis & 1 else end[axis] for axis in axes)),
            self.integers(*axes),
            self.integers(*(stride[axis] for axis in axes)),
        ]
        self.plain[outputs[0]] = self.op("Slice", operands)
