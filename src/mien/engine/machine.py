"""Which devices this machine has, over all engines. Drivers are loaded only for what is asked for."""

from __future__ import annotations

import functools
import importlib
from importlib import metadata
from importlib.util import find_spec

from mien.engine.device import Device, devices, find_device
from mien.engine.onnxruntime import load_runtime
from mien.engine.providers import PRECISIONS, PROVIDERS
from mien.errors import EngineError

_ACCELERATED = (
    *("onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-migraphx", "onnxruntime-rocm", "onnxruntime-qnn"),
)
"""Distributions that bring more than a CPU; all of them own the module `onnxruntime`."""
_TENSORRT = ("tensorrt-cu13-libs", "tensorrt-cu13", "tensorrt-cu12-libs", "tensorrt-cu12", "tensorrt")


def devices_for(wanted: str) -> tuple[Device, ...]:
    """The devices among which `wanted` is to be looked for.

    Args:
        wanted: `auto`, or a device's name. For `cpu`, and for `auto` where no accelerated engine is installed, the
            CPU alone is asked: looking for others loads their drivers.
    """
    kind = wanted.lower().partition(":")[0]
    if wanted.lower() == "cpu" or (kind == "auto" and not _is_accelerated()):
        return (find_device("cpu"),)
    if kind in PROVIDERS:
        load_runtime(kind)
    elif kind != "auto":
        return devices()
    return (*devices(), *onnxruntime_devices())


def all_devices() -> tuple[Device, ...]:
    """Every device that any installed engine sees."""
    return (*devices(), *(onnxruntime_devices() if find_spec("onnxruntime") else ()))


@functools.cache
def onnxruntime_devices() -> tuple[Device, ...]:
    """Every device that ONNX Runtime sees; none if it is not installed."""
    try:
        there = set(load_runtime().get_available_providers())
    except EngineError:
        return ()
    found: list[Device] = []
    for kind, provider in PROVIDERS.items():
        if provider in there:
            for number, full_name in enumerate(_full_names(kind)):
                name = kind if kind == "onnxruntime" else f"{kind}:{number}"
                found.append(Device(name, provider, full_name, PRECISIONS[kind], "onnxruntime"))
    return tuple(found)


@functools.cache
def nvidia_gpus() -> tuple[tuple[str, str], ...]:
    """Name and architecture (`sm_90`) of each GPU of NVIDIA; none without its driver or the package nvidia-ml-py."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return ()
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return ()
    try:
        handles = [nvml.nvmlDeviceGetHandleByIndex(number) for number in range(nvml.nvmlDeviceGetCount())]
        return tuple(
            (str(nvml.nvmlDeviceGetName(handle)), "sm_{}{}".format(*nvml.nvmlDeviceGetCudaComputeCapability(handle)))
            for handle in handles
        )
    finally:
        nvml.nvmlShutdown()


def tensorrt_version() -> str:
    """Of the package that brings TensorRT; `of the system` if none does."""
    return next((version for name in _TENSORRT if (version := _version(name))), "of the system")


def onnxruntime_distributions() -> tuple[str, ...]:
    """Those of ONNX Runtime's distributions that are installed; more than one overwrite each other."""
    return tuple(name for name in ("onnxruntime", *_ACCELERATED) if _version(name))


def _is_accelerated() -> bool:
    return any(_version(distribution) for distribution in _ACCELERATED)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _full_names(kind: str) -> tuple[str, ...]:
    """The makers' names of the devices of a kind; ONNX Runtime tells of most only that there is one."""
    if kind in ("cuda", "tensorrt"):
        return tuple(name for name, _ in nvidia_gpus())
    if kind == "onnxruntime":
        return (find_device("cpu").full_name,)
    return (PROVIDERS[kind].removesuffix("ExecutionProvider"),)
