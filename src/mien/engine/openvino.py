"""Networks on OpenVINO, which reads ONNX files as they are."""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mien.engine.cache import load_blob, store_blob
from mien.engine.calls import Side, Totals, check_inputs
from mien.engine.device import Device, core
from mien.engine.mapped import giving_back_pages, read_mapped
from mien.engine.onnx_file import OnnxFile
from mien.engine.precision import file_precision
from mien.engine.runtime import ov
from mien.engine.session import Ran, Tensors, Usage
from mien.errors import EngineError, ModelError

LARGE_BYTES = 64 * 1024**2
"""Networks from this size on are mapped and compiled once, for all batches: a cache or a shape of their own for lone
items makes them no quicker, and each costs their weights' memory again."""

_TYPE_NAMES = {"f32": "fp32", "bf16": "bf16", "f16": "fp16"}


class OpenVinoSession:
    """A network compiled for one device. Safe to call from several threads; each call runs on its own request."""

    def __init__(
        self,
        path: Path,
        *,
        model: str,
        device: Device,
        precision: str,
        threads: int = 1,
        streams: int = 1,
        max_batch: int = 8,
        cache: Path | None = None,
        why: str = "",
    ) -> None:
        """Read and compile; a large network runs once, since it takes its memory then.

        Args:
            path: The ONNX file.
            model: Catalogue id, for reports and messages.
            device: Where to run.
            precision: `fp32`, `bf16`, `fp16`, or `int8` of a file that is int8 itself.
            threads: CPU threads of one call.
            streams: Calls that run side by side; further ones wait.
            max_batch: Largest batch of one run of the network; larger ones are run in parts. Networks that were
                exported for single items run item by item, whatever it says.
            cache: Folder of compiled networks, or None.
            why: For the report: why this device and precision.

        Raises:
            ModelError: the file is missing or not a network.
            EngineError: the engine cannot compile it.
        """
        self._path = path
        self._model = model
        self._device = device
        self._precision = precision
        self._max_batch = max_batch
        self._cache = cache
        self._config: dict[str, object] = {
            "INFERENCE_PRECISION_HINT": _hint(precision, device),
            "INFERENCE_NUM_THREADS": threads * streams,
            "NUM_STREAMS": streams,
        }
        self._totals = Totals()
        self._lock = threading.Lock()
        self._large = path.is_file() and path.stat().st_size >= LARGE_BYTES
        self._variants: dict[int, _Variant] = {}
        try:
            first = self._variant(1)
        except _OneItemOnly:
            self._max_batch = 1
            first = self._variant(1)
        self._inputs = first.inputs
        shapes = {name: tuple(_side(side) for side in shape) for name, shape in first.inputs.items()}
        self._shapes: dict[str, tuple[Side, ...]] = dict(shapes)
        if precision == "int8" and file_precision(path) != "int8":
            raise EngineError(f"{model} is no int8 network: give a quantised file, or another precision than int8")
        ran_in = precision if precision == "int8" else first.precision
        self._ran = Ran(model, "openvino", f"{device.name} ({device.full_name})", ran_in, why)
        if self._large:
            self._pack(first)

    @property
    def ran(self) -> Ran:
        """Engine, device and precision, read back from the compiled network."""
        return self._ran

    @property
    def usage(self) -> Usage:
        """Calls, batch items and seconds so far."""
        return self._totals.usage

    def run(self, inputs: Tensors) -> dict[str, NDArray[np.float32]]:
        """Run one batch, in parts of at most `max_batch`. Outputs are copies.

        Raises:
            EngineError: an input has the wrong name or shape, or the engine failed.
        """
        items = check_inputs(self._model, inputs, self._shapes)
        started = time.perf_counter()
        try:
            parts = self._run_parts(inputs, items)
        except _OneItemOnly:
            self._max_batch = 1
            parts = self._run_parts(inputs, items)
        self._totals.add(items, time.perf_counter() - started)
        if len(parts) == 1:
            return parts[0]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def warm(self, batches: Iterable[int]) -> None:
        """Compile for each batch size, or get it from the cache.

        Raises:
            ModelError: the file is missing or not a network.
            EngineError: the engine cannot compile it.
        """
        try:
            for items in batches:
                self._variant(items)
        except _OneItemOnly:
            self._max_batch = 1

    def release(self) -> None:
        """Let go of the network's memory. A later run loads it again."""
        with self._lock:
            self._variants.clear()

    def _run_parts(self, inputs: Tensors, items: int) -> list[dict[str, NDArray[np.float32]]]:
        step = self._max_batch
        return [
            self._run_part({name: value[first : first + step] for name, value in inputs.items()})
            for first in range(0, items, step)
        ]

    def _run_part(self, inputs: Tensors) -> dict[str, NDArray[np.float32]]:
        variant = self._variant(len(next(iter(inputs.values()))))
        try:
            return variant.run(inputs)
        except RuntimeError as error:
            raise EngineError(f"{self._model} failed on {self._ran.device}: {error}") from error

    def _variant(self, items: int) -> _Variant:
        # A batch axis of exactly one runs a quarter faster than an open or bounded one, and one is the usual case.
        bound = 1 if items == 1 and not self._large else self._max_batch
        with self._lock:
            if bound not in self._variants:
                self._variants[bound] = self._load(bound)
            return self._variants[bound]

    def _load(self, bound: int) -> _Variant:
        """The network for batches of up to `bound`: from the cache, or compiled and put there."""
        if self._cache is None or self._large:
            return self._compile(bound)
        key = self._key(bound)
        blob = load_blob(self._cache, key)
        if blob is not None:
            try:
                imported = core().import_model(blob, self._device.engine_name, self._config)
                return _Variant(imported, [port.any_name for port in imported.outputs])
            except RuntimeError:
                pass  # Damaged, or of another version of the engine: it is made anew.
        variant = self._compile(bound)
        store_blob(self._cache, key, variant.compiled.export_model().getvalue())
        return variant

    def _compile(self, bound: int) -> _Variant:
        network, file = self._read()
        if bound > 1 and not _takes_batches(network):
            raise _OneItemOnly
        try:
            network.reshape({port: _bounded(port.partial_shape, bound) for port in network.inputs})
            with _sparing(file):
                compiled = core().compile_model(network, self._device.engine_name, self._config)
        except RuntimeError as error:
            raise EngineError(
                f"{self._model} cannot be compiled for {self._device.name} in {self._precision}: {error}"
            ) from error
        # Compiled outputs carry further names of the engine's own: those of the file are the contract.
        return _Variant(compiled, [port.any_name for port in network.outputs], file)

    def _read(self) -> tuple[ov.Model, OnnxFile | None]:
        if self._large:
            try:
                return read_mapped(self._path)
            except RuntimeError:
                pass  # A kind of node that has to see its weights when it is read: that takes the whole file.
        return _read(self._path, self._model), None

    def _pack(self, variant: _Variant) -> None:
        """Run once, which packs the weights. Open sides leave it to the first use."""
        inner = {name: list(shape)[1:] for name, shape in self._inputs.items()}
        if all(side.is_static for sides in inner.values() for side in sides):
            shapes = {name: (1, *(side.get_length() for side in sides)) for name, sides in inner.items()}
            with _sparing(variant.file):
                self._run_part({name: np.zeros(shape, np.float32) for name, shape in shapes.items()})

    def _key(self, bound: int) -> str:
        """Names all that a compiled network depends on."""
        if not self._path.is_file():
            raise _missing(self._path, self._model)
        state = self._path.stat()
        parts = (
            *(str(self._path), state.st_size, state.st_mtime_ns, ov.get_version(), self._device.full_name, bound),
            *sorted(f"{name}={value}" for name, value in self._config.items()),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


class _OneItemOnly(Exception):
    """The network was exported for single items: there are shapes in it that say so."""


class _Variant:
    """The network compiled for batches of one size; each call runs on a request of its own."""

    def __init__(self, compiled: ov.CompiledModel, outputs: Sequence[str], file: OnnxFile | None = None) -> None:
        self.compiled = compiled
        self.file = file  # The weights that it was made from may still be in there.
        self.precision = _actual_precision(compiled)
        self.inputs = {_input_name(port): port.partial_shape for port in compiled.inputs}
        self._types = {_input_name(port): port.element_type.to_dtype() for port in compiled.inputs}
        self._outputs = outputs
        self._requests: queue.SimpleQueue[ov.InferRequest] = queue.SimpleQueue()

    def run(self, inputs: Tensors) -> dict[str, NDArray[np.float32]]:
        # A few networks of the field have an input of another type, such as one float64.
        arrays = {name: np.ascontiguousarray(value, self._types[name]) for name, value in inputs.items()}
        request = self._take_request()
        try:
            # Tensors share the arrays' memory: the arrays outlive the call.
            for name, array in arrays.items():
                request.set_tensor(name, ov.Tensor(array, shared_memory=True))
            request.infer()
            return {name: request.get_output_tensor(i).data.copy() for i, name in enumerate(self._outputs)}
        finally:
            self._requests.put(request)

    def _take_request(self) -> ov.InferRequest:
        try:
            return self._requests.get_nowait()
        except queue.Empty:
            return self.compiled.create_infer_request()


def _sparing(file: OnnxFile | None) -> AbstractContextManager[None]:
    return nullcontext() if file is None else giving_back_pages(file)


def _read(path: Path, model: str) -> ov.Model:
    if not path.is_file():
        raise _missing(path, model)
    try:
        return core().read_model(path)
    except RuntimeError as error:
        raise ModelError(
            f"{model} cannot be read: {path} is damaged or not an ONNX network; install mien again"
        ) from error


def _missing(path: Path, model: str) -> ModelError:
    return ModelError(f"{model} is missing: there is no file {path}; install mien again")


def _takes_batches(network: ov.Model) -> bool:
    """Whether shapes work out for two items. With an open batch axis the engine would find out by crashing."""
    try:
        network.reshape({port: ov.PartialShape([2, *list(port.partial_shape)[1:]]) for port in network.inputs})
    except RuntimeError:
        return False
    return True


def _input_name(port: ov.ConstOutput) -> str:
    """As the file calls it: the port itself also carries names of what the engine has folded into it."""
    return port.get_node().get_friendly_name()


def _side(side: ov.Dimension) -> int | None:
    return None if side.is_dynamic else side.get_length()


def _bounded(shape: ov.PartialShape, bound: int) -> ov.PartialShape:
    return ov.PartialShape([ov.Dimension(1, bound), *list(shape)[1:]])


def _hint(precision: str, device: Device) -> ov.Type:
    """What floating point runs in; of an int8 network that is the rest, for which bf16 is still the finer one."""
    if precision == "fp16":
        return ov.Type.f16
    if precision == "bf16" or (precision == "int8" and "bf16" in device.precisions):
        return ov.Type.bf16
    return ov.Type.f32


def _actual_precision(compiled: ov.CompiledModel) -> str:
    name = str(compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name())
    return _TYPE_NAMES.get(name, name)
