"""A swapper as an INT8 file, made by ONNX Runtime's own tool: convolutions with u8 activations and s8 weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

Inputs = Mapping[str, NDArray[np.float32]]


def quantised(path: Path, samples: Sequence[Inputs]) -> Path:
    """The INT8 file beside a network's, made once; ranges of values are those of the samples."""
    made = path.with_name(f"{path.stem}_int8.onnx")
    if not made.exists():
        part = path.with_name(f"{path.stem}_int8.part")
        quantize_static(
            path,
            part,
            _Samples(samples),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["Conv"],
        )
        _append_last_weight(part, path)
        part.rename(made)
    return made


class _Samples(CalibrationDataReader):
    def __init__(self, samples: Sequence[Inputs]) -> None:
        self._left = iter(samples)

    def get_next(self) -> Inputs | None:  # type: ignore[override]
        return next(self._left, None)


def _append_last_weight(path: Path, original: Path) -> None:
    """The tool drops weights that no layer uses: the swapper's emap is one."""
    network = onnx.load(str(path))
    network.graph.initializer.append(onnx.load(str(original)).graph.initializer[-1])
    onnx.save_model(network, str(path))
