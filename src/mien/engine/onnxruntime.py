"""Networks on ONNX Runtime, an optional package: on its own CPU, NVIDIA, AMD, Apple, DirectML and Qualcomm devices."""

from __future__ import annotations

import importlib
import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.engine.built import is_sound
from mien.engine.calls import Totals, check_inputs
from mien.engine.device import Device
from mien.engine.onnx_file import OnnxFile
from mien.engine.providers import EXTRAS, PROVIDERS, Engines, providers, session_entries
from mien.engine.session import Ran, Tensors, Usage
from mien.errors import EngineError, ModelError
from mien.installing import install_command

SHAPE_OPERATORS = frozenset(
    {"Shape", "Size", "Gather", "Unsqueeze", "Squeeze", "Concat", "Slice", "Cast", "Constant", "Range"}
    | {"Add", "Sub", "Mul", "Div", "Floor", "Ceil", "ReduceProd", "Equal", "Where", "ConstantOfShape", "Expand"}
)
"""Arithmetic on shapes, which GPU providers give to the CPU on purpose: its results are a few integers."""

_FATAL_ONLY = 4
_NUMPY_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}


def load_runtime(kind: str = "onnxruntime") -> ModuleType:
    """The package `onnxruntime`, its telemetry off: that has to be said before the first import.

    Args:
        kind: Of device it is wanted for; the message names what brings it.

    Raises:
        EngineError: it is not installed, or broken.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        return importlib.import_module("onnxruntime")
    except ImportError as error:
        raise EngineError(
            f"device {kind} needs ONNX Runtime, which is not there ({error}): {install_command(EXTRAS[kind])}"
        ) from error


class OnnxRuntimeSession:
    """A network loaded for one device. Safe to call from several threads."""

    def __init__(
        self,
        path: Path,
        *,
        model: str,
        device: Device,
        precision: str = "fp32",
        threads: int = 1,
        max_batch: int = 8,
        memory_bytes: int | None = None,
        engines: Engines | None = None,
        build: bool = False,
        why: str = "",
    ) -> None:
        """Read and optimise.

        Args:
            path: The ONNX file.
            model: Catalogue id, for reports and messages.
            device: Where to run; one of `machine.onnxruntime_devices`.
            precision: `fp32`, `bf16`, `fp16` or `int8`; what the device offers.
            threads: CPU threads of one call.
            max_batch: Largest batch of one run; larger ones are run in parts, and a file with a batch axis of 1 runs
                item by item.
            memory_bytes: The most that it may take on a device of NVIDIA.
            engines: Where TensorRT's engines of this network lie.
            build: Let TensorRT build its engine, which takes minutes. Otherwise it has to be there.
            why: For the report: why this device and precision.

        Raises:
            ModelError: the file is missing or not a network.
            EngineError: ONNX Runtime is not there, or cannot run the network as asked.
        """
        self._model = model
        self._device = device
        kind, _, number = device.name.partition(":")
        self._kind = kind
        runtime = load_runtime(kind)
        self._failures = _failures(runtime)
        if not path.is_file():
            raise ModelError(f"{model} is missing: there is no file {path}")
        if kind == "tensorrt" and not build and (engines is None or not is_sound(engines.folder)):
            raise EngineError(
                f"{model} has no engine for {device.name} ({device.full_name}) in {precision} yet: run "
                f"`mien models compile {model} --device {device.name}` once"
            )
        chosen = providers(kind, int(number or 0), precision, memory_bytes=memory_bytes, engines=engines)
        self._session = self._load(runtime, path, chosen, threads)
        self._outputs = [port.name for port in self._session.get_outputs()]
        self._inputs = {port.name: (tuple(port.shape), port.type) for port in self._session.get_inputs()}
        if strange := {kind for _, kind in self._inputs.values()} - set(_NUMPY_TYPES):
            raise EngineError(f"{model} takes {', '.join(strange)}, which no network of the field does")
        max_batch = engines.profile.most if engines else max_batch
        self._max_batch = 1 if any(shape[:1] == (1,) for shape, _ in self._inputs.values()) else max_batch
        self._ran = Ran(model, "onnxruntime", f"{device.name} ({device.full_name})", precision, why)
        self._totals = Totals()

    @property
    def ran(self) -> Ran:
        """Engine, device and precision, the device read back from the loaded network."""
        return self._ran

    @property
    def usage(self) -> Usage:
        """Calls, batch items and seconds so far."""
        return self._totals.usage

    def run(self, inputs: Tensors) -> dict[str, NDArray[np.float32]]:
        """Run one batch, in parts of at most `max_batch`. Outputs are the caller's to keep.

        Raises:
            EngineError: an input has the wrong name or shape, or the engine failed.
        """
        items = check_inputs(self._model, inputs, {name: shape for name, (shape, _) in self._inputs.items()})
        arrays = {
            name: np.ascontiguousarray(value, _NUMPY_TYPES[self._inputs[name][1]]) for name, value in inputs.items()
        }
        started = time.perf_counter()
        parts = [
            self._run_part({name: value[first : first + self._max_batch] for name, value in arrays.items()})
            for first in range(0, items, self._max_batch)
        ]
        self._totals.add(items, time.perf_counter() - started)
        outputs = parts[0] if len(parts) == 1 else [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]
        return dict(zip(self._outputs, outputs, strict=True))

    def warm(self, batches: Iterable[int]) -> None:
        """Run once with each batch size, on zeros: a provider allocates, chooses or builds then.

        Raises:
            EngineError: a side other than the batch is open, or the engine failed.
        """
        for items in batches:
            if any(not isinstance(side, int) for shape, _ in self._inputs.values() for side in shape[1:]):
                raise EngineError(f"{self._model} has open sides: it cannot be warmed up without a picture")
            self.run({name: np.zeros((items, *shape[1:]), np.float32) for name, (shape, _) in self._inputs.items()})

    def _run_part(self, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        try:
            return self._session.run(self._outputs, dict(inputs))
        except self._failures as error:
            raise EngineError(f"{self._model} failed on {self._ran.device}: {error}") from error

    def _load(self, runtime: ModuleType, path: Path, chosen: Sequence[tuple[str, dict[str, str]]], threads: int) -> Any:
        if self._kind in ("cuda", "tensorrt"):
            runtime.preload_dlls()  # CUDA and cuDNN as Python packages lie where no loader looks.
        try:
            session = _open(runtime, path, chosen, _options(runtime, self._kind, threads))
        except self._failures as error:
            if self._kind == "onnxruntime" or "CPU EP" not in str(error):
                raise self._unloadable(path, error) from error
            # Some nodes are for the CPU, which is fine if they compute shapes.
            session = _open(runtime, path, chosen, _options(runtime, self._kind, threads, strict=False))
            self._refuse_if_moved(session)
            self._refuse_if_shared(session)
            return session
        self._refuse_if_moved(session)
        return session

    def _refuse_if_moved(self, session: Any) -> None:
        first = session.get_providers()[0]
        if first != PROVIDERS[self._kind]:
            raise EngineError(
                f"{self._model} would run on {first}, not on {self._device.name} ({self._device.full_name}): its "
                f"driver or libraries are missing; {install_command(EXTRAS[self._kind])}, or give --device cpu"
            )

    def _refuse_if_shared(self, session: Any) -> None:
        moved = computing_on_cpu(
            (subgraph.ep_name, [node.op_type for node in subgraph.get_nodes()])
            for subgraph in session.get_provider_graph_assignment_info()
        )
        if moved:
            raise EngineError(
                f"{self._model} does not run on {self._device.name} ({self._device.full_name}) as a whole: "
                f"{', '.join(moved)} would run on the CPU; give --device cpu"
            )

    def _unloadable(self, path: Path, error: Exception) -> ModelError | EngineError:
        try:
            OnnxFile(path)
        except ModelError as damage:
            return ModelError(f"{self._model} cannot be read: {damage}")
        return EngineError(f"{self._model} cannot be loaded on {self._device.name}: {error}")


def computing_on_cpu(assigned: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Operators beyond arithmetic on shapes that would run on the CPU.

    Args:
        assigned: Provider and operators of each part of the graph.
    """
    operators = {operator for provider, nodes in assigned if provider == PROVIDERS["onnxruntime"] for operator in nodes}
    return tuple(sorted(operators - SHAPE_OPERATORS))


def _options(runtime: ModuleType, kind: str, threads: int, *, strict: bool = True) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL_ONLY  # What fails is raised as well.
    for key, value in session_entries(kind, strict=strict).items():
        options.add_session_config_entry(key, value)
    return options


def _open(runtime: ModuleType, path: Path, chosen: Sequence[tuple[str, dict[str, str]]], options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # A provider that is not there is told by an error of ours.
        return runtime.InferenceSession(str(path), options, providers=list(chosen))


def _failures(runtime: ModuleType) -> tuple[type[Exception], ...]:
    """ONNX Runtime's own errors, which have no class in common, and what its bindings raise."""
    names = vars(runtime.capi.onnxruntime_pybind11_state).values()
    own = [kind for kind in names if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)
