"""What an ONNX file itself computes in."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from mien.engine.onnx_file import OnnxFile

_QUANTISED = frozenset({"QuantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"})
_HEAVY = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_FLOAT16 = 10
"""TensorProto.DataType."""


def file_precision(path: Path) -> str:
    """`int8` of a quantised file, `fp16` if its convolutions and products take float16 weights, else `fp32`.

    A file that only stores float16 weights and casts them before use computes in float32. Looked at once, as long as
    the file stays the same: going through its nodes takes longer than all else that is asked before a run.

    Raises:
        ModelError: the file is missing or no ONNX network.
    """
    try:
        state = path.stat()
    except OSError:
        return _precision(OnnxFile(path))  # which says what is wrong
    return _remembered(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=256)
def _remembered(path: Path, _changed_ns: int, _size_bytes: int) -> str:
    return _precision(OnnxFile(path))


def _precision(file: OnnxFile) -> str:
    halves = {weight.name for weight in file.weights if weight.data_type == _FLOAT16}
    in_halves = False
    for operator, inputs in file.nodes:
        if operator in _QUANTISED:
            return "int8"
        in_halves = in_halves or (operator in _HEAVY and not halves.isdisjoint(inputs))
    return "fp16" if in_halves else "fp32"
