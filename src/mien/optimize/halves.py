"""Float16 networks: nodes compute in half precision but for those that are kept, with casts between the two.

What a GPU would get wrong is found without one: `rounded` is the network in float32 with every tensor that would be a
half rounded to one. Inside a product a GPU adds up in float32, and so does this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mien.optimize.graph import inputs_of, restore_unread
from mien.optimize.stack import Model, onnx

_FLOAT, _FLOAT16 = 1, 10
"""TensorProto.DataType."""
_FLOAT16_TYPE = "tensor(float16)"
_MAX = 65504.0
"""Largest finite half."""


def candidates(model: Model) -> tuple[str, ...]:
    """Names of nodes that ONNX defines for halves and whose tensors are float32, in the network's order."""
    floats = _floats(model)
    captured = {
        name
        for node in model.graph.node
        for name in list(inputs_of(node))[len(node.input) :]  # A graph inside a node takes these by name.
    }
    return tuple(
        node.name for node in model.graph.node if _takes_halves(model, node, floats) and not captured & set(node.output)
    )


def halved(model: Model, kept: Iterable[str]) -> Model:
    """The network with its candidates in float16, but for those that are kept. Inputs and outputs stay float32.

    Args:
        model: Cleaned up; see `graph.clean`.
        kept: Names of nodes.
    """
    halves = set(candidates(model)) - set(kept)
    made = onnx().ModelProto()
    made.CopyFrom(model)
    _Rewriter(made, _floats(model), halves).rewrite()
    restore_unread(made, model)
    return made


def rounded(model: Model, halves: Iterable[str]) -> Model:
    """The network in float32 with the inputs and outputs of these nodes rounded to halves."""
    package, changed, floats = onnx(), set(halves), _floats(model)
    made = package.ModelProto()
    made.CopyFrom(model)
    weights = {tensor.name: tensor for tensor in made.graph.initializer}
    nodes, done = list[Any](), dict[str, str]()

    def through_half(source: str, target: str) -> None:
        middle = f"{target}:half"
        nodes.append(package.helper.make_node("Cast", [source], [middle], to=_FLOAT16))
        nodes.append(package.helper.make_node("Cast", [middle], [target], to=_FLOAT))

    for node in made.graph.node:
        if node.name not in changed:
            nodes.append(node)
            continue
        for place in _half_places(made, node, floats):
            name = node.input[place]
            if name not in done:
                done[name] = f"{name}:rounded"
                if name in weights:
                    made.graph.initializer.append(_rounded_weight(weights[name], done[name]))
                else:
                    through_half(name, done[name])
            node.input[place] = done[name]
        outputs = [name for name in node.output if name in floats]
        for place, name in enumerate(node.output):
            if name in outputs:
                node.output[place] = f"{name}:exact"
        nodes.append(node)
        for name in outputs:
            through_half(f"{name}:exact", name)
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    restore_unread(made, model)
    return made


class _Rewriter:
    """Turns nodes of a graph into halves, and puts casts where the two kinds meet."""

    def __init__(self, model: Model, floats: set[str], halves: set[str]) -> None:
        self._helper: Any = onnx("helper")
        self._model = model
        self._floats = floats
        self._halves = halves
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._outputs = {port.name for port in model.graph.output}
        self._is_half: set[str] = set()
        self._other: dict[str, str] = {}
        self._nodes: list[Any] = []

    def rewrite(self) -> None:
        for node in self._model.graph.node:
            if node.name in self._halves:
                self._halve(node)
            else:
                for place, name in enumerate(node.input):
                    if name in self._is_half:
                        node.input[place] = self._as(name, _FLOAT)
                self._nodes.append(node)
        del self._model.graph.node[:]
        self._model.graph.node.extend(self._nodes)
        del self._model.graph.value_info[:]
        self._drop_unused({tensor.name for tensor in self._weights.values()})

    def _halve(self, node: Any) -> None:
        places = set(_half_places(self._model, node, self._floats))
        for place, name in enumerate(node.input):
            if place in places:
                node.input[place] = self._half_name(name) if name in self._is_half else self._as(name, _FLOAT16)
            elif name in self._is_half:
                node.input[place] = self._as(name, _FLOAT)
        outputs = [name for name in node.output if name in self._floats]
        for place, name in enumerate(node.output):
            if name in outputs:
                node.output[place] = self._half_name(name)
        self._nodes.append(node)
        for name in outputs:
            self._is_half.add(name)
            if name in self._outputs:
                # The graph's own output keeps its name and type; others go on from the half.
                self._nodes.append(self._helper.make_node("Cast", [self._half_name(name)], [name], to=_FLOAT))
                self._other[name] = name

    def _half_name(self, name: str) -> str:
        return f"{name}:half" if name in self._outputs else name

    def _as(self, name: str, kind: int) -> str:
        """The tensor in the other type, cast once."""
        if name not in self._other:
            self._other[name] = f"{name}:{'fp16' if kind == _FLOAT16 else 'fp32'}"
            if name in self._weights:
                half = _half_weight(self._weights[name], self._other[name])
                self._model.graph.initializer.append(half)
            else:
                self._nodes.append(self._helper.make_node("Cast", [self._source(name)], [self._other[name]], to=kind))
        return self._other[name]

    def _source(self, name: str) -> str:
        return self._half_name(name) if name in self._is_half else name

    def _drop_unused(self, names: set[str]) -> None:
        """Weights that now lie there as halves only; those that no node ever took stay."""
        replaced = names & set(self._other)
        taken = {name for node in self._model.graph.node for name in inputs_of(node)}
        for tensor in [one for one in self._model.graph.initializer if one.name in replaced - taken]:
            self._model.graph.initializer.remove(tensor)


def _floats(model: Model) -> set[str]:
    """Names of float32 tensors."""
    inferred = onnx("shape_inference").infer_shapes(model, data_prop=True)
    ports = (*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output)
    found = {port.name for port in ports if port.type.tensor_type.elem_type == _FLOAT}
    return found | {tensor.name for tensor in model.graph.initializer if tensor.data_type == _FLOAT}


def _takes_halves(model: Model, node: Any, floats: set[str]) -> bool:
    """Whether all float32 tensors of a node may be halves, and it makes one out of another."""
    schema = _schema(model, node)
    if schema is None or any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
        return False
    outputs = [place for place, name in enumerate(node.output) if name in floats]
    places = _half_places(model, node, floats)
    return bool(places) and bool(outputs) and all(_allows(schema, schema.outputs, place) for place in outputs)


def _half_places(model: Model, node: Any, floats: set[str]) -> list[int]:
    """Places of a node's float32 inputs that may be halves; others, such as the scales of Resize, stay."""
    schema = _schema(model, node)
    if schema is None:
        return []
    return [
        place
        for place, name in enumerate(node.input)
        if name in floats and _allows(schema, schema.inputs, place) and not _is_cast(node)
    ]


def _is_cast(node: Any) -> bool:
    return node.op_type == "Cast"


def _schema(model: Model, node: Any) -> Any:
    version = next((entry.version for entry in model.opset_import if entry.domain == node.domain), None)
    package = onnx("defs")
    if version is None or not package.has(node.op_type, version, node.domain):
        return None
    return package.get_schema(node.op_type, version, node.domain)


def _allows(schema: Any, ports: Any, place: int) -> bool:
    port = ports[min(place, len(ports) - 1)]  # The last one may stand for several.
    constraint = next((one for one in schema.type_constraints if one.type_param_str == port.type_str), None)
    return _FLOAT16_TYPE in (constraint.allowed_type_strs if constraint else (port.type_str,))


def _half_weight(tensor: Any, name: str) -> Any:
    helper = onnx("numpy_helper")
    return helper.from_array(_clipped(helper.to_array(tensor)), name)


def _rounded_weight(tensor: Any, name: str) -> Any:
    helper = onnx("numpy_helper")
    return helper.from_array(_clipped(helper.to_array(tensor)).astype(np.float32), name)


def _clipped(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Halves; a constant beyond them, such as one that stands for infinity, becomes the largest."""
    return np.clip(values, -_MAX, _MAX).astype(np.float16)
