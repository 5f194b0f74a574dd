"""INT8 networks by ONNX Runtime's tools: QDQ, unsigned activations, signed weights with a scale for each channel."""

from __future__ import annotations

import io
import logging
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mien.errors import UsageError
from mien.optimize.graph import Inputs, restore_unread
from mien.optimize.stack import Model, onnx, runtime

Method = Literal["minmax", "percentile", "entropy"]
METHODS: tuple[Method, ...] = ("minmax", "percentile", "entropy")
"""How ranges of activations are taken from those that were seen."""
PERCENTILE = 99.99
"""What `percentile` keeps of the values of a tensor, percent."""

AROUND = (
    *("Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Mul", "Relu", "PRelu", "MaxPool", "AveragePool"),
    *("GlobalAveragePool", "Concat", "Resize", "Pad", "Transpose", "Reshape", "Sigmoid"),
)
"""Operators that are quantised where the layers around them are, so that values stay bytes from layer to layer."""
_CHUNK = 4
"""Items whose activations are held at once while ranges are taken."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of every activation."""

    method: Method
    tensors: Any
    """ONNX Runtime's `TensorsData`."""


def calibrate(model: Model, items: Sequence[Inputs], method: Method) -> Ranges:
    """Run the network on what it sees and take ranges.

    Args:
        model: Cleaned up; see `graph.clean`.
        items: Inputs of one item each.
        method: One of `METHODS`.

    Raises:
        UsageError: there is no such method, or no item.
    """
    if method not in METHODS:
        raise UsageError(f"there is no calibration method '{method}': it is one of {', '.join(METHODS)}")
    if not items:
        raise UsageError("there is nothing to calibrate with")
    tools = runtime("quantization.calibrate")
    kinds = {"minmax": "MinMax", "percentile": "Percentile", "entropy": "Entropy"}
    options = {"percentile": PERCENTILE, "symmetric": False} if method == "percentile" else {}
    with tempfile.TemporaryDirectory() as folder, _quiet():
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        calibrator = tools.create_calibrator(
            path,
            augmented_model_path=f"{folder}/observed.onnx",
            calibrate_method=getattr(tools.CalibrationMethod, kinds[method]),
            extra_options=options,
        )
        for first in range(0, len(items), _CHUNK):
            calibrator.collect_data(_Reader(items[first : first + _CHUNK]))
        return Ranges(method, calibrator.compute_data())


def quantised(model: Model, ranges: Ranges, nodes: Iterable[str]) -> Model:
    """The network with these nodes in INT8.

    Args:
        model: Cleaned up.
        ranges: From `calibrate` of the same network.
        nodes: Names; those of operators that are not in `AROUND` stay as they are.
    """
    tools = runtime("quantization")
    made = onnx().ModelProto()
    made.CopyFrom(model)
    chosen = list(nodes)
    with _quiet():
        quantiser = runtime("quantization.qdq_quantizer").QDQQuantizer(
            made,
            per_channel=True,
            reduce_range=False,
            weight_qType=tools.QuantType.QInt8,
            activation_qType=tools.QuantType.QUInt8,
            tensors_range=ranges.tensors,
            nodes_to_quantize=chosen,
            nodes_to_exclude=[],
            op_types_to_quantize=list(AROUND),
            extra_options={},
        )
        quantiser.quantize_model()
        quantiser.model.topological_sort()
    finished = quantiser.model.model
    restore_unread(finished, model)
    return finished


def neighbours(model: Model, layers: Iterable[str]) -> frozenset[str]:
    """These layers, and the operators between them that may go along in bytes: those all of whose sources are layers
    that are quantised, or such operators themselves.
    """
    chosen = set(layers)
    weights = {tensor.name for tensor in model.graph.initializer}
    made_by_chosen: set[str] = set()
    for node in model.graph.node:
        sources = [name for name in node.input if name and name not in weights]
        along = node.op_type in AROUND and bool(sources) and made_by_chosen.issuperset(sources)
        if node.name in chosen or (along and not _has_weights(node, weights)):
            chosen.add(node.name)
            made_by_chosen.update(node.output)
    return frozenset(chosen)


def _has_weights(node: Any, weights: set[str]) -> bool:
    """Whether it is a layer of its own, which is quantised only if it is named."""
    return node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul") and not weights.isdisjoint(node.input)


class _Reader:
    """Items one by one, as ONNX Runtime wants them."""

    def __init__(self, items: Sequence[Inputs]) -> None:
        self._items = iter(items)

    def get_next(self) -> Inputs | None:
        return next(self._items, None)

    def __iter__(self) -> Iterator[Inputs]:
        return self._items


@contextmanager
def _quiet() -> Generator[None]:
    """Without the tools' own advice, logged and printed, which is not the user's concern."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(before)
