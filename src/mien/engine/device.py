"""What this machine can run networks on."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass

from mien.engine.runtime import ov
from mien.errors import EngineError

_core_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Device:
    """One device of the engine."""

    name: str
    """As users write it: `cpu`, `gpu:0`, ..."""
    engine_name: str
    """As the engine writes it: `CPU`, `GPU.0`, ..."""
    full_name: str
    """The maker's name, e.g. the processor's."""
    precisions: tuple[str, ...]
    """Of `fp32`, `bf16`, `fp16`, `int8`: what the device computes in without emulation."""
    engine: str = "openvino"
    """Which engine runs networks there: `openvino` or `onnxruntime`."""

    @property
    def kind(self) -> str:
        """The name without its number."""
        return self.name.partition(":")[0]


def core() -> ov.Core:
    """The engine of this process, made when first asked for."""
    with _core_lock:
        return _make_core()


@functools.cache
def _make_core() -> ov.Core:
    return ov.Core()


@functools.cache
def devices() -> tuple[Device, ...]:
    """Every device that the engine sees on this machine."""
    return tuple(_describe(name) for name in core().available_devices)


def find_device(name: str) -> Device:
    """The device called `name`; `auto` is the CPU.

    Raises:
        EngineError: no such device here; the message names those that are.
    """
    wanted = "cpu" if name == "auto" else name.lower()
    if wanted == "cpu" and (cpu := _cpu()) is not None:
        return cpu
    for device in devices():
        if wanted in (device.name, device.name.split(":")[0]):
            return device
    there = ", ".join(f"{device.name} ({device.full_name})" for device in devices())
    raise EngineError(f"device '{name}' is not there: this machine has {there}; give one of these or auto")


@functools.cache
def _cpu() -> Device | None:
    """The CPU, asked for alone: looking for other devices loads their drivers (20 MB, 50 ms)."""
    try:
        return _describe("CPU")
    except RuntimeError:
        return None


def _describe(engine_name: str) -> Device:
    capabilities = core().get_property(engine_name, "OPTIMIZATION_CAPABILITIES")
    names = [("FP32", "fp32"), ("BF16", "bf16"), ("INT8", "int8")]
    if engine_name != "CPU":  # Processors gain nothing from float16, even where they have it.
        names.insert(2, ("FP16", "fp16"))
    return Device(
        name=engine_name.lower().replace(".", ":"),
        engine_name=engine_name,
        full_name=" ".join(str(core().get_property(engine_name, "FULL_DEVICE_NAME")).split()),
        precisions=tuple(ours for theirs, ours in names if theirs in capabilities),
    )
