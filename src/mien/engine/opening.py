"""From a choice to a session: one function over all engines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from mien.engine.built import engine_key, is_sound
from mien.engine.cache import cache_root
from mien.engine.choose import Choice, possible_precisions
from mien.engine.device import Device
from mien.engine.machine import nvidia_gpus, tensorrt_version
from mien.engine.onnx_file import OnnxFile, Port
from mien.engine.onnxruntime import OnnxRuntimeSession, load_runtime
from mien.engine.openvino import OpenVinoSession
from mien.engine.precision import file_precision
from mien.engine.providers import Engines, Profile
from mien.engine.runtime import ov
from mien.engine.session import Session
from mien.errors import EngineError

MOST = 16
"""Largest batch for which TensorRT's engines are built: the tiles of a crop that is boosted fourfold."""


class WarmSession(Session, Protocol):
    """A session that can be made ready for batches before they come."""

    def warm(self, batches: tuple[int, ...]) -> None:
        """Compile, build or allocate for each batch size.

        Raises:
            EngineError: the engine failed.
        """
        ...


def open_session(
    path: Path,
    model: str,
    choice: Choice,
    *,
    sha256: str,
    threads: int = 1,
    streams: int = 1,
    max_batch: int = 8,
    cache: Path | None = None,
    build: bool = False,
) -> WarmSession:
    """Load a network as chosen.

    Args:
        path: The ONNX file.
        model: Its id, for reports and messages.
        choice: Device and precision, from `choose`.
        sha256: Of the file: names its TensorRT engine.
        threads: CPU threads of one call.
        streams: Calls that run side by side on OpenVINO.
        max_batch: Largest batch of one run.
        cache: OpenVINO's folder of compiled networks, or None.
        build: Let TensorRT build its engine, which takes minutes.

    Raises:
        ModelError: the file is missing or no network.
        EngineError: the engine cannot run it as asked.
    """
    device = choice.device
    if device.engine == "openvino":
        return OpenVinoSession(
            path,
            model=model,
            device=device,
            precision=choice.precision,
            threads=threads,
            streams=streams,
            max_batch=max_batch,
            cache=cache,
            why=choice.why,
        )
    possible = possible_precisions(file_precision(path), device)
    if choice.precision not in possible:
        raise EngineError(
            f"{model} cannot run in {choice.precision} on {device.name} ({device.full_name}), which takes this file as "
            f"{' or '.join(possible)}"
        )
    return OnnxRuntimeSession(
        path,
        model=model,
        device=device,
        precision=choice.precision,
        threads=threads,
        max_batch=max_batch,
        engines=engines_of(path, sha256, device, choice.precision) if device.kind == "tensorrt" else None,
        build=build,
        why=choice.why,
    )


def engine_version(engine: str) -> str:
    """Name and version of an engine, as caches have to know it.

    Raises:
        EngineError: it is not installed.
    """
    return f"openvino {ov.get_version()}" if engine == "openvino" else f"onnxruntime {load_runtime().__version__}"


def engines_of(path: Path, sha256: str, device: Device, precision: str) -> Engines:
    """Where a network's TensorRT engine for a device lies, or would.

    Raises:
        ModelError: the file is no ONNX network.
        EngineError: it has open sides.
    """
    file = OnnxFile(path)
    weights = set(file.initializers)
    profile = profile_for([port for port in file.inputs if port.name not in weights])
    architecture = nvidia_gpus()[int(device.name.partition(":")[2])][1]
    builder = f"{engine_version(device.engine)}, TensorRT {tensorrt_version()}"
    return Engines(cache_root() / "tensorrt" / engine_key(sha256, builder, architecture, precision, profile), profile)


def built_engines(path: Path, sha256: str, device: Device) -> set[tuple[str, str]]:
    """The device with each precision for which a whole TensorRT engine lies there; none for a network it cannot take.

    Raises:
        ModelError: the file is no ONNX network.
    """
    try:
        folders = {precision: engines_of(path, sha256, device, precision).folder for precision in device.precisions}
    except EngineError:
        return set()
    return {(device.name, precision) for precision, folder in folders.items() if is_sound(folder)}


def profile_for(inputs: Sequence[Port]) -> Profile:
    """The shapes for which a network's engine is built: every batch up to `MOST` where the file leaves it open.

    Raises:
        EngineError: a side other than the batch is open.
    """
    inner: list[tuple[str, tuple[int, ...]]] = []
    for port in inputs:
        sides = tuple(side for side in port.shape[1:] if isinstance(side, int))
        if len(sides) < len(port.shape) - 1:
            raise EngineError(f"input {port.name} has open sides, for which TensorRT would build again and again")
        if isinstance(port.shape[0], str):
            inner.append((port.name, sides))
    return Profile(tuple(inner), most=MOST)
