"""Where a network runs and in what precision: a pure policy over what is asked, the network and the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mien.engine.device import Device
from mien.engine.providers import EXTRAS
from mien.errors import EngineError
from mien.installing import install_command

PRECISIONS = ("int8", "fp16", "bf16", "fp32")
"""Fastest first."""
AUTO_KINDS = ("tensorrt", "cuda", "migraphx", "rocm", "directml", "cpu")
"""Kinds of device that `auto` takes, fastest first. The others are as often slower than the CPU as faster."""

_TURNS_INTO: Mapping[str, tuple[str, ...]] = {
    "cpu": ("bf16",),
    "gpu": ("fp16",),
    "npu": ("fp16",),
    "tensorrt": ("bf16", "fp16"),
    "migraphx": ("fp16",),
    "coreml": ("fp16",),
    "qnn": ("fp16",),
}
"""By kind of device, into what it turns a float32 file; int8 takes a file of its own everywhere, fp16 elsewhere."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the choice has to know of a network."""

    model: str
    """Catalogue id."""
    safe: tuple[str, ...] = ("fp32",)
    """Precisions in which its quality is known to hold."""
    file: str = "fp32"
    """What the file itself computes in."""
    checked: Mapping[tuple[str, str], bool] = field(default_factory=dict[tuple[str, str], bool])
    """By device and precision, whether it passed the check on this machine; this goes before `safe`."""
    built: frozenset[tuple[str, str]] = frozenset()
    """Devices and precisions for which a TensorRT engine lies ready."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a network is to run on."""

    device: Device
    precision: str
    why: str

    @property
    def engine(self) -> str:
        """`openvino` or `onnxruntime`."""
        return self.device.engine


def choose(facts: ModelFacts, device: str, precision: str, devices: Sequence[Device]) -> Choice:
    """The fastest that is safe and there.

    A precision that is asked for holds for every network it is safe for; the others run in float32, and a file that
    is int8 or float16 itself runs as it is wherever the device has that.

    Args:
        facts: The network.
        device: `auto`, or a device's name, with or without its number.
        precision: `auto`, `fp32`, `bf16`, `fp16` or `int8`.
        devices: What this machine has.

    Raises:
        EngineError: what is asked for is not there; the message says what is, or what to install.
    """
    check_precision(precision, facts.model)
    if device == "auto":
        found, why_device = _fastest(facts, precision, devices)
    else:
        found, why_device = find(device, devices), "asked for"
    chosen, why_precision = _precision(facts, precision, found)
    return Choice(found, chosen, f"{found.name}: {why_device}; {chosen}: {why_precision}")


def find(name: str, devices: Sequence[Device]) -> Device:
    """The device of that name; of several of its kind the first.

    Raises:
        EngineError: it is not there; the message names those that are and what brings it.
    """
    wanted = name.lower()
    for device in devices:
        if wanted in (device.name, device.kind):
            return device
    there = ", ".join(f"{device.name} ({device.full_name})" for device in devices)
    kind = wanted.partition(":")[0]
    brings = f"bring its engine ({install_command(EXTRAS[kind])}), or " if kind in EXTRAS else ""
    raise EngineError(f"device '{name}' is not there: this machine has {there}; {brings}give one of these or auto")


def check_precision(precision: str, model: str) -> None:
    """Look whether it is one.

    Raises:
        EngineError: it is not.
    """
    if precision not in ("auto", *PRECISIONS):
        known = ", ".join(reversed(PRECISIONS))
        raise EngineError(f"precision '{precision}' is unknown (asked for {model}): give auto, {known}")


def safe_precisions(facts: ModelFacts, device: Device) -> tuple[str, ...]:
    """In which the network may run on the device, fastest first; float32 is one wherever the device has it."""
    return tuple(
        precision
        for precision in possible_precisions(facts.file, device)
        if facts.checked.get((device.name, precision), precision in (*facts.safe, facts.file, "fp32"))
    )


def possible_precisions(file: str, device: Device) -> tuple[str, ...]:
    """In which a file that computes in `file` can run on a device at all, fastest first."""
    there = {"fp32", file, *_TURNS_INTO.get(device.kind, ())} & set(device.precisions)
    return tuple(precision for precision in PRECISIONS if precision in there)


def _fastest(facts: ModelFacts, precision: str, devices: Sequence[Device]) -> tuple[Device, str]:
    """The first of the fastest kind on which the network can run."""
    ranked = sorted(
        (device for device in devices if device.kind in AUTO_KINDS), key=lambda device: AUTO_KINDS.index(device.kind)
    )
    passed: list[str] = []
    for device in ranked:
        if device.kind == "tensorrt" and (device.name, _precision(facts, precision, device)[0]) not in facts.built:
            passed.append(f"no engine is built for {device.name}")
        elif precision not in ("auto", *device.precisions) and device is not ranked[-1]:
            passed.append(f"{device.name} has no {precision}")
        else:
            return device, ", ".join(["the fastest that is there", *passed])
    mends = install_command("openvino", anew=True)
    raise EngineError(f"no device is there to run networks on: {mends}")


def _precision(facts: ModelFacts, asked: str, device: Device) -> tuple[str, str]:
    """The precision on a device and why."""
    if asked not in ("auto", *device.precisions):
        raise EngineError(
            f"precision {asked} is not there: {device.name} ({device.full_name}) computes in "
            f"{', '.join(device.precisions)}; give auto or one of these"
        )
    safe = safe_precisions(facts, device)
    if not safe:
        raise EngineError(
            f"{facts.model} is not known to keep its quality in {', '.join(device.precisions)}, all that {device.name} "
            f"({device.full_name}) computes in: give --device cpu, or see what `mien models check` says"
        )
    if facts.file != "fp32" and facts.file in safe:
        return facts.file, "the file's own"
    if asked == "auto":
        return safe[0], _why_fastest(facts, device, safe[0])
    if asked in safe:
        return asked, "asked for"
    if facts.checked.get((device.name, asked)) is False:
        return "fp32", f"{asked} failed the check"
    if asked not in possible_precisions(facts.file, device):
        return "fp32", f"{asked} takes a file of that precision"
    return "fp32", f"{asked} is not known to be safe"


def _why_fastest(facts: ModelFacts, device: Device, chosen: str) -> str:
    faster = [precision for precision in PRECISIONS[: PRECISIONS.index(chosen)] if precision in device.precisions]
    if failed := [precision for precision in faster if facts.checked.get((device.name, precision)) is False]:
        return f"{', '.join(failed)} failed the check"
    if facts.checked.get((device.name, chosen)):
        return "the fastest that passed the check"
    return "the fastest that is known to be safe"
