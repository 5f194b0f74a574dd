"""A small builder of ONNX graphs. Names of nodes and constants follow from the order of the calls alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8


class GraphBuilder:
    """Collects nodes and constants; values are referred to by name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._count = 0

    def new_name(self, stem: str, separator: str = "_") -> str:
        """`stem_1`, `stem_2`, ...; all stems share one counter."""
        self._count += 1
        return f"{stem}{separator}{self._count}"

    def constant(self, array: NDArray[np.generic] | np.generic, name: str | None = None) -> str:
        """Add an initializer (scalars become vectors of one)."""
        name = name or self.new_name("c")
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind: str, inputs: Sequence[str], **attributes: object) -> str:
        """Add a node with one output and return the output's name."""
        output = self.new_name(kind.lower())
        self.nodes.append(helper.make_node(kind, inputs, [output], name=f"{output}_n", **attributes))
        return output

    def rename(self, value: str, name: str) -> None:
        """Give a value the name of a graph output."""
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def model(
        self,
        name: str,
        inputs: dict[str, Sequence[int | str]],
        outputs: dict[str, Sequence[int | str]],
        producer: str,
    ) -> onnx.ModelProto:
        """The checked model, without what no output needs. Axes given as text are free."""
        needed, kept = set(outputs), []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                kept.append(node)
                needed.update(node.input)
        graph = helper.make_graph(
            kept[::-1],
            name,
            [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in inputs.items()],
            [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in outputs.items()],
            [tensor for tensor in self.initializers if tensor.name in needed],
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name=producer
        )
        onnx.checker.check_model(model, full_check=True)
        return model


def half_weights(model: onnx.ModelProto) -> None:
    """Store float32 weights of 256 values or more as float16 with a Cast behind them; arithmetic stays float32."""
    graph = model.graph
    stored, casts = [], []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if tensor.data_type == TensorProto.FLOAT and values.size >= 256 and np.abs(values).max() < 6e4:
            stored.append(numpy_helper.from_array(values.astype(np.float16), f"{tensor.name}__h"))
            casts.append(
                helper.make_node(
                    "Cast", [f"{tensor.name}__h"], [tensor.name], to=TensorProto.FLOAT, name=f"{tensor.name}__c"
                )
            )
        else:
            stored.append(tensor)
    nodes = list(graph.node)
    del graph.node[:], graph.initializer[:]
    graph.node.extend([*casts, *nodes])
    graph.initializer.extend(stored)
    onnx.checker.check_model(model)
