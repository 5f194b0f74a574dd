"""face_landmark_with_attention.tflite -> face_mesh_478.onnx.

The three custom operators of MediaPipe's attention mesh are written in plain ones, and the refined lips, eyes and
irises are merged into the 468 points: `image` (N,192,192,3) RGB 0..1 -> `landmarks` (N,478,3) (x, y in pixels of the
input, z on the same scale) and `presence` (N,1) 0..1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from flatbuffers import flexbuffers
from onnx import TensorProto, helper, numpy_helper

from tflite import Indices, TfliteConverter, operator_name, read

PARTS = {
    "output_mesh_identity": (468, 3),
    "output_lips": (80, 2),
    "output_left_eye": (71, 2),
    "output_right_eye": (71, 2),
    "output_left_iris": (5, 2),
    "output_right_iris": (5, 2),
}
"""Outputs of the network: points and coordinates of each."""
EYE_OUTLINE = 16
"""The first points of an eye are its outline; an iris lies at their mean depth."""


class AttentionMeshConverter(TfliteConverter):
    """Adds the custom operators. A 2D transform, 4x4 in TFLite, is carried as (N,3,2): (x, y, 1) @ transform."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._transforms: set[int] = set()

    def slice(self, value: str, begin: int, end: int, axis: int) -> str:
        return self.op("Slice", [value, self.integers(begin), self.integers(end), self.integers(axis)])

    def mul(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        if inputs[0] not in self._transforms:
            super().mul(operator, inputs, outputs)
            return
        factors = self.weight(inputs[1]).reshape(4, 4)[:2][:, [0, 1, 3]].T[None]
        self.plain[outputs[0]] = self.op("Mul", [self.plain[inputs[0]], self.constant(factors)])
        self._transforms.add(outputs[0])

    def landmarks2transformmatrix(self, operator: Any, inputs: Indices, outputs: Indices) -> None:
        """The upright box around some landmarks -> the transform from crop pixels to the picture's.

        The rotation's cosine and sine come from the normalised vector between two points, so no atan2 is needed.
        """
        options = flexbuffers.Loads(bytes(operator.customOptions))
        if options["target_rotation_radians"] != 0:
            raise NotImplementedError("a target rotation other than 0")
        points = self.in_plain(inputs[0])
        flat = self.slice(points, 0, 2, 2)

        def pick(*indices: int) -> str:
            return self.op("Gather", [flat, self.integers(*indices)], axis=1)

        right, left = pick(options["right_rotation_idx"]), pick(options["left_rotation_idx"])
        across = self.op("Sub", [right, left])
        squares = self.op("Mul", [across, across])
        length = self.op("Sqrt", [self.op("ReduceSum", [squares, self.integers(2)], keepdims=1)])
        direction = self.op("Div", [across, self.op("Max", [length, self.constant(np.float32(1e-12))])])
        cosine, sine = self.slice(direction, 0, 1, 2), self.slice(direction, 1, 2, 2)
        minus_sine = self.op("Neg", [sine])

        def matrix(top: list[str], bottom: list[str]) -> str:
            rows = [self.op("Concat", top, axis=2), self.op("Concat", bottom, axis=2)]
            return self.op("Concat", rows, axis=1)

        upright = matrix([cosine, minus_sine], [sine, cosine])
        back = matrix([cosine, sine], [minus_sine, cosine])
        turned = self.op("MatMul", [pick(*options["subset_idxs"]), upright])
        high = self.op("ReduceMax", [turned], axes=[1], keepdims=1)
        low = self.op("ReduceMin", [turned], axes=[1], keepdims=1)
        size = self.op("Sub", [high, low])
        middle = self.op("Mul", [self.op("Add", [high, low]), self.constant(np.float32(0.5))])
        centre = self.op("MatMul", [middle, back])
        width, height = options["output_width"], options["output_height"]
        scale = np.array([options["scale_x"] / width, options["scale_y"] / height], np.float32)
        column = self.op("Transpose", [self.op("Mul", [size, self.constant(scale)])], perm=[0, 2, 1])
        linear = self.op("Mul", [column, back])
        half = self.constant(np.array([[[width / 2, height / 2]]], np.float32))
        shift = self.op("Sub", [centre, self.op("MatMul", [half, linear])])
        self._transforms.add(outputs[0])
        self.plain[outputs[0]] = self.op("Concat", [linear, shift], axis=1)

    def transformlandmarks(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        """Points of a crop, in the picture."""
        transform = self.plain[inputs[1]]
        turned = self.op("MatMul", [self.in_plain(inputs[0]), self.slice(transform, 0, 2, 1)])
        self.plain[outputs[0]] = self.op("Add", [turned, self.slice(transform, 2, 3, 1)])

    def transformtensorbilinear(self, _operator: Any, inputs: Indices, outputs: Indices) -> None:
        """A bilinear crop of features; a point beyond their outermost centres is 0."""
        transform = self.plain[inputs[1]]
        _, height, width, _ = self.shape(inputs[0])
        rows, columns = self.shape(outputs[0])[1:3]
        y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
        centres = np.stack([x.ravel() + 0.5, y.ravel() + 0.5, np.ones(rows * columns, np.float32)], 1)[None]
        mapped = self.op("MatMul", [self.constant(centres), transform])
        places = self.op("Sub", [mapped, self.constant(np.float32(0.5))])
        last = np.array([width - 1, height - 1], np.float32)
        clipped = self.op("Max", [self.op("Min", [places, self.constant(last)]), self.constant(np.float32(0))])
        unclipped = self.op("Cast", [self.op("Equal", [places, clipped])], to=TensorProto.FLOAT)
        inside = self.op("Mul", [self.slice(unclipped, 0, 1, 2), self.slice(unclipped, 1, 2, 2)])
        # From -1 at the first centre to 1 at the last one.
        spread = self.op("Mul", [clipped, self.constant(np.float32(2) / last)])
        grid = self.op("Sub", [spread, self.constant(np.float32(1))])
        crop = self.op(
            "GridSample",
            [self.in_nchw(inputs[0]), self.op("Reshape", [grid, self.integers(0, rows, columns, 2)])],
            mode="bilinear",
            padding_mode="border",
            align_corners=1,
        )
        self.nchw[outputs[0]] = self.op("Mul", [crop, self.op("Reshape", [inside, self.integers(0, 1, rows, columns)])])


def refined_points(path: Path) -> list[list[int]]:
    """Which of the 468 points the lips (80), the left eye (71) and the right eye (71) refine."""
    model = read(path)
    return [
        flexbuffers.Loads(bytes(operator.customOptions))["subset_idxs"]
        for operator in model.subgraphs[0].operators
        if operator_name(model, operator) == "Landmarks2TransformMatrix"
    ]


def merge_points(model: onnx.ModelProto, lips: list[int], left_eye: list[int], right_eye: list[int]) -> None:
    """Replace the seven outputs by `landmarks` and `presence`."""
    graph = model.graph
    order, offset = np.arange(478), 468
    for part in (lips, left_eye, right_eye):
        for place, point in enumerate(part):
            order[point] = offset + place
        offset += len(part)
    order[468:] = offset + np.arange(10)
    constants = {
        "m_i": order,
        "m_s0": [0],
        "m_s2": [2],
        "m_s3": [3],
        "m_ax2": [2],
        "m_le16": left_eye[:EYE_OUTLINE],
        "m_re16": right_eye[:EYE_OUTLINE],
        "m_exp": [1, 5, 1],
        "m_flat": [-1, 1],
        **{f"m_r_{name}": [-1, *shape] for name, shape in PARTS.items()},
    }
    graph.initializer.extend(numpy_helper.from_array(np.array(v, np.int64), name) for name, v in constants.items())

    def node(kind: str, inputs: list[str], output: str, **attributes: object) -> str:
        graph.node.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    mesh, *refined = (node("Reshape", [name, f"m_r_{name}"], f"m_{name}") for name in PARTS)
    mesh_xy = node("Slice", [mesh, "m_s0", "m_s2", "m_ax2"], "m_mesh_xy")
    mesh_z = node("Slice", [mesh, "m_s2", "m_s3", "m_ax2"], "m_mesh_z")
    all_xy = node("Concat", [mesh_xy, *refined], "m_allxy", axis=1)
    xy = node("Gather", [all_xy, "m_i"], "m_xy", axis=1)
    depths = [mesh_z]
    for eye in ("le", "re"):
        outline = node("Gather", [mesh_z, f"m_{eye}16"], f"m_{eye}z", axis=1)
        mean = node("ReduceMean", [outline], f"m_{eye}m", axes=[1], keepdims=1)
        depths.append(node("Tile", [mean, "m_exp"], f"m_{eye}x"))
    z = node("Concat", depths, "m_z", axis=1)
    node("Concat", [xy, z], "landmarks", axis=2)
    node("Sigmoid", [node("Reshape", ["conv_faceflag", "m_flat"], "m_flag")], "presence")
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("landmarks", TensorProto.FLOAT, ["N", 478, 3]))
    graph.output.append(helper.make_tensor_value_info("presence", TensorProto.FLOAT, ["N", 1]))


def rename_input(graph: onnx.GraphProto, name: str) -> None:
    """Call the only input `name`."""
    old, graph.input[0].name = graph.input[0].name, name
    for node in graph.node:
        for place, value in enumerate(node.input):
            if value == old:
                node.input[place] = name


def convert(path: Path) -> onnx.ModelProto:
    """Read the .tflite file and build the network."""
    model = AttentionMeshConverter(path).convert("face_mesh_478")
    merge_points(model, *refined_points(path))
    rename_input(model.graph, "image")
    onnx.checker.check_model(model, full_check=True)
    return model
