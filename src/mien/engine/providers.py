"""ONNX Runtime's execution providers: their names, what each computes in, and their options as pure functions.

Options are those of onnxruntime.ai/docs/execution-providers and of `onnxruntime_session_options_config_keys.h`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mien.errors import EngineError

CPU = "CPUExecutionProvider"

PROVIDERS: Mapping[str, str] = {
    "tensorrt": "TensorrtExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "migraphx": "MIGraphXExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "qnn": "QNNExecutionProvider",
    "onnxruntime": CPU,
}
"""ONNX Runtime's name of each kind of device that it brings; `onnxruntime` alone is its own CPU."""

PRECISIONS: Mapping[str, tuple[str, ...]] = {
    "tensorrt": ("fp32", "bf16", "fp16", "int8"),
    "cuda": ("fp32", "fp16", "int8"),
    "migraphx": ("fp32", "fp16", "int8"),
    "rocm": ("fp32", "fp16"),
    "directml": ("fp32", "fp16", "int8"),
    "coreml": ("fp32", "fp16"),
    "qnn": ("fp16", "int8"),
    "onnxruntime": ("fp32", "int8"),
}
"""What each kind of device computes in."""

EXTRAS: Mapping[str, str] = {
    "onnxruntime": "mien[onnxruntime]",
    "coreml": "mien[onnxruntime]",
    "cuda": "mien[cuda]",
    "tensorrt": "mien[tensorrt]",
    "directml": "onnxruntime-directml",
    "migraphx": "onnxruntime-migraphx",
    "rocm": "onnxruntime-rocm",
    "qnn": "onnxruntime-qnn",
}
"""What to install for each kind of device."""

WORKSPACE_SHARE = 0.25
"""Of a memory limit, what TensorRT may use as scratch."""
_BUILDER_LEVEL = 3
"""TensorRT's default: 4 and 5 take many times longer for a few percent."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The shapes that a TensorRT engine is built for: any batch from 1 to `most` runs without building again."""

    inner: tuple[tuple[str, tuple[int, ...]], ...]
    """Name and shape without the batch axis of each input whose batch axis is open; none: all shapes are fixed."""
    most: int = 8
    """The largest batch. A lone face is the usual case: the engine is fastest for that."""

    def options(self) -> dict[str, str]:
        """As TensorRT's provider takes it."""
        if not self.inner:
            return {}
        bounds = {"min": 1, "opt": 1, "max": self.most}
        return {f"trt_profile_{bound}_shapes": self._shapes(items) for bound, items in bounds.items()}

    def _shapes(self, items: int) -> str:
        return ",".join(f"{name}:{'x'.join(map(str, (items, *shape)))}" for name, shape in self.inner)


@dataclass(frozen=True, slots=True)
class Engines:
    """Where built engines of one network lie, and for which shapes they are."""

    folder: Path
    profile: Profile


Provider = tuple[str, dict[str, str]]
"""Name and options of one provider."""


def providers(
    kind: str, number: int, precision: str, *, memory_bytes: int | None = None, engines: Engines | None = None
) -> list[Provider]:
    """The providers of a session, the wanted one first; the CPU's is left to ONNX Runtime.

    Args:
        kind: Of `PROVIDERS`.
        number: Of the device, of several of a kind.
        precision: `fp32`, `bf16`, `fp16` or `int8`.
        memory_bytes: The most that the session may take on the device; None: no limit.
        engines: TensorRT's alone needs them.

    Raises:
        EngineError: there is no such kind.
    """
    if kind == "onnxruntime":
        return [(CPU, {})]
    if kind == "cuda":
        return [(PROVIDERS[kind], cuda_options(number, precision, memory_bytes=memory_bytes))]
    if kind == "tensorrt" and engines is not None:
        # What TensorRT does not know runs on CUDA.
        return [
            (PROVIDERS[kind], tensorrt_options(number, precision, engines, memory_bytes=memory_bytes)),
            (PROVIDERS["cuda"], cuda_options(number, precision, memory_bytes=memory_bytes)),
        ]
    others = _other_options(number, precision)
    if kind not in others:
        raise EngineError(f"device '{kind}' is unknown to ONNX Runtime's adapter: give one of {', '.join(PROVIDERS)}")
    return [(PROVIDERS[kind], others[kind])]


def cuda_options(number: int, precision: str, *, memory_bytes: int | None = None) -> dict[str, str]:
    """Of CUDA's provider. The arena grows by what is asked for, so that what a network holds can be told."""
    options = {
        "device_id": str(number),
        "arena_extend_strategy": "kSameAsRequested",
        "cudnn_conv_algo_search": "HEURISTIC",  # Trying all of them takes seconds for each new batch size.
        "use_tf32": "0",  # Ten bits of mantissa are not float32.
        "prefer_nhwc": "1" if precision == "fp16" else "0",  # Tensor cores want channels last.
    }
    return options if memory_bytes is None else {**options, "gpu_mem_limit": str(memory_bytes)}


def tensorrt_options(
    number: int, precision: str, engines: Engines, *, memory_bytes: int | None = None
) -> dict[str, str]:
    """Of TensorRT's provider: engines and timings are kept in `engines.folder`."""
    options = {
        "device_id": str(number),
        "trt_engine_cache_enable": "1",
        "trt_engine_cache_path": str(engines.folder),
        "trt_timing_cache_enable": "1",
        "trt_timing_cache_path": str(engines.folder),
        "trt_context_memory_sharing_enable": "1",
        "trt_builder_optimization_level": str(_BUILDER_LEVEL),
        "trt_fp16_enable": _flag(precision == "fp16"),
        "trt_bf16_enable": _flag(precision == "bf16"),
        "trt_int8_enable": _flag(precision == "int8"),
        # Half precision alone overflows where a network takes means and variances.
        "trt_layer_norm_fp32_fallback": _flag(precision == "fp16"),
        **engines.profile.options(),
    }
    if memory_bytes is not None:
        options["trt_max_workspace_size"] = str(int(WORKSPACE_SHARE * memory_bytes))
    return options


def session_entries(kind: str, *, strict: bool = True) -> dict[str, str]:
    """Configuration of a session: threads sleep when they wait, and no part moves to the CPU unasked.

    Args:
        kind: Of `PROVIDERS`.
        strict: Refuse every node that would run on the CPU; otherwise ONNX Runtime writes down where each runs.
    """
    entries = {"session.intra_op.allow_spinning": "0", "session.inter_op.allow_spinning": "0"}
    if kind != "onnxruntime":
        key = "session.disable_cpu_ep_fallback" if strict else "session.record_ep_graph_assignment_info"
        entries[key] = "1"
    return entries


def _other_options(number: int, precision: str) -> dict[str, dict[str, str]]:
    return {
        "migraphx": {
            "device_id": str(number),
            "migraphx_fp16_enable": _flag(precision == "fp16"),
            "migraphx_int8_enable": _flag(precision == "int8"),
        },
        "rocm": {"device_id": str(number), "arena_extend_strategy": "kSameAsRequested"},
        "directml": {"device_id": str(number)},
        "coreml": {
            "ModelFormat": "MLProgram",
            "MLComputeUnits": "ALL",
            "RequireStaticInputShapes": "0",
            "AllowLowPrecisionAccumulationOnGPU": _flag(precision == "fp16"),
        },
        "qnn": {"backend_type": "htp", "enable_htp_fp16_precision": _flag(precision == "fp16")},
    }


def _flag(value: bool) -> str:
    return "1" if value else "0"
