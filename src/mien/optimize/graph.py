"""Networks as graphs in memory: read, cleaned up, counted and written without losing what adapters read."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.errors import ModelError
from mien.media.files import publish
from mien.models.families.inspection import inspect
from mien.optimize.stack import Model, onnx, runtime

Inputs = Mapping[str, NDArray[np.float32]]
"""What a network is given for one item, by the names of its inputs."""

HEAVY = ("Conv", "ConvTranspose", "Gemm", "MatMul")
"""Operators in which a network's time and weights are."""
_ERRORS_ONLY = 3
"""ONNX Runtime's severity."""
_FLOAT = 1
"""TensorProto.DataType."""
_WORTH_A_CAST = 256
"""Values of a weight from which on a node more is less than what it saves."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How large a network is."""

    parameters: int
    """Weights and biases of convolutions and products."""
    operations: int
    """Multiply-adds of convolutions and products for one item."""


def read(path: Path) -> Model:
    """The network of a file.

    Raises:
        ModelError: it is missing or no ONNX network; the message says what it is instead.
    """
    inspect(path)
    try:
        return onnx().load(str(path))
    except Exception as error:  # protobuf's own errors have no class that is imported without it
        raise ModelError(f"{path} cannot be read as an ONNX network: {error}") from error


def write(model: Model, path: Path) -> None:
    """Write a network, whole or not at all.

    Raises:
        UnwritableError: the folder is missing or read-only, or the disk is full.
    """
    with publish(path) as part:
        part.write_bytes(model.SerializeToString())


def clean(path: Path) -> Model:
    """The network with constants folded and batch normalisations, scales and biases fused into convolutions.

    Weights that no node uses stay, in their order and last: an adapter reads them from the file, as inswapper's does
    with its last one. Every node has a name. Float16 weights that are cast before use become float32.

    Raises:
        ModelError: the file is no network, or one that ONNX Runtime cannot read.
    """
    original = read(path)
    engine = runtime()
    options = engine.SessionOptions()
    options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = _ERRORS_ONLY
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = f"{folder}/clean.onnx"
        try:
            engine.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no class in common
            raise ModelError(f"{path} cannot be cleaned up: ONNX Runtime does not take it: {error}") from error
        model = onnx().load(options.optimized_model_filepath)
    used = {node.domain for node in model.graph.node}
    for entry in [entry for entry in model.opset_import if entry.domain not in used]:
        model.opset_import.remove(entry)
    for number, node in enumerate(model.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"
    restore_unread(model, original)
    return model


def restore_unread(model: Model, original: Model) -> None:
    """Put the weights that no node of `original` uses behind those of `model`, in their order."""
    unread = unread_weights(original)
    there = [tensor for tensor in model.graph.initializer if tensor.name in unread]
    for tensor in there:
        model.graph.initializer.remove(tensor)
    model.graph.initializer.extend(tensor for tensor in original.graph.initializer if tensor.name in unread)


def lean(model: Model) -> Model:
    """The network with float32 weights that are exactly halves stored as such, and cast before use: half the file.

    What it says stays the same to the last bit. Weights that no node takes stay as they are.
    """
    package = onnx()
    made = package.ModelProto()
    made.CopyFrom(model)
    unread, casts = unread_weights(model), list[Any]()
    for tensor in [one for one in made.graph.initializer if one.name not in unread and one.data_type == _FLOAT]:
        values = package.numpy_helper.to_array(tensor)
        with np.errstate(over="ignore"):
            halves = values.astype(np.float16)
        if values.size >= _WORTH_A_CAST and np.array_equal(halves.astype(np.float32), values):
            name, stored = tensor.name, f"{tensor.name}:stored"
            tensor.CopyFrom(package.numpy_helper.from_array(halves, stored))
            casts.append(package.helper.make_node("Cast", [stored], [name], f"{name}:cast", to=_FLOAT))
    nodes = [*casts, *made.graph.node]
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    return made


def unread_weights(model: Model) -> set[str]:
    """Names of initializers that no node and no output takes."""
    taken = {name for node in model.graph.node for name in inputs_of(node)}
    taken |= {port.name for port in model.graph.output}
    return {tensor.name for tensor in model.graph.initializer} - taken


def inputs_of(node: Any) -> Iterator[str]:
    """Names that a node takes, with those that graphs inside it take from around them."""
    yield from node.input
    for attribute in node.attribute:
        for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            for one in inner.node:
                yield from inputs_of(one)


def layers(model: Model) -> tuple[str, ...]:
    """Names of convolutions and products with weights of their own, in the network's order."""
    weights = {tensor.name for tensor in model.graph.initializer}
    return tuple(
        node.name for node in model.graph.node if node.op_type in HEAVY and not weights.isdisjoint(list(node.input)[1:])
    )


def edges(model: Model) -> frozenset[str]:
    """Names of layers that no other layer comes before, or none after: what a network sees first and says last."""
    named = set(layers(model))
    nodes = list(model.graph.node)
    return _without_layer_behind(nodes, named) | _without_layer_behind(
        nodes[::-1], named, sources=lambda node: node.output, results=inputs_of
    )


def _without_layer_behind(
    nodes: Sequence[Any],
    named: set[str],
    sources: Callable[[Any], Iterable[str]] = inputs_of,
    results: Callable[[Any], Iterable[str]] = lambda node: node.output,
) -> frozenset[str]:
    """Layers to which no tensor leads that another layer has touched; nodes come in the order of the data."""
    touched: set[str] = set()
    found: set[str] = set()
    for node in nodes:
        behind = not touched.isdisjoint(sources(node))
        if node.name in named and not behind:
            found.add(node.name)
        if behind or node.name in named:
            touched.update(results(node))
    return frozenset(found)


def count(model: Model, inputs: Inputs) -> Counts:
    """Parameters and multiply-adds, at the sizes of one item's inputs."""
    shapes = shapes_of(model, inputs)
    parameters = operations = 0
    for node in model.graph.node:
        if node.op_type not in HEAVY:
            continue
        weight, output = shapes.get(node.input[1], ()), shapes.get(node.output[0], ())
        parameters += sum(math.prod(shapes[name]) for name in list(node.input)[1:] if shapes.get(name))
        if node.op_type == "Conv":
            operations += math.prod(output) * math.prod(weight[1:])
        elif node.op_type == "ConvTranspose":
            operations += math.prod(shapes.get(node.input[0], ())) * math.prod(weight[1:])
        else:
            operations += math.prod(output) * shapes.get(node.input[0], (1,))[-1]
    return Counts(parameters, operations)


def shapes_of(model: Model, inputs: Inputs) -> dict[str, tuple[int, ...]]:
    """Shapes of all tensors that can be told, at the sizes of one item's inputs. Open sides count as one."""
    package = onnx()
    fixed = package.ModelProto()
    fixed.CopyFrom(model)
    for port in fixed.graph.input:
        if port.name in inputs:
            for axis, side in zip(port.type.tensor_type.shape.dim, inputs[port.name].shape, strict=False):
                axis.dim_value = side
    del fixed.graph.value_info[:]
    for port in fixed.graph.output:
        port.type.tensor_type.ClearField("shape")
    inferred = onnx("shape_inference").infer_shapes(fixed, data_prop=True)
    found = {tensor.name: tuple(tensor.dims) for tensor in fixed.graph.initializer}
    for port in (*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output):
        if port.type.tensor_type.HasField("shape"):
            found[port.name] = tuple(axis.dim_value or 1 for axis in port.type.tensor_type.shape.dim)
    return found
