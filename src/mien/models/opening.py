"""From a catalogue entry and its file to a session: what is known of the network decides where and how it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mien.engine.choose import Choice, ModelFacts, choose
from mien.engine.device import Device
from mien.engine.machine import devices_for
from mien.engine.opening import WarmSession, built_engines, engine_version, open_session
from mien.engine.precision import file_precision
from mien.engine.verdicts import checked_precisions, verdict_folder
from mien.models.catalogue import BundledEntry, CatalogueEntry
from mien.models.checksum import checksum_of
from mien.models.places import digest_folder

DEVICE_BATCH = 8
"""Largest batch of one run on anything but a CPU."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a job asks of the machine."""

    device: str = "auto"
    """`auto`, or a device's name, with or without its number."""
    precision: str = "auto"
    """`auto`, `fp32`, `bf16`, `fp16` or `int8`; all but the first hold for every network for which they are safe."""

    def check(self) -> None:
        """Look whether the machine has it, before any network is at hand.

        Raises:
            EngineError: it has not.
        """
        choose(ModelFacts("the job"), self.device, self.precision, devices_for(self.device))

    def choose(self, entry: CatalogueEntry, path: Path) -> Choice:
        """Device and precision for one network.

        Raises:
            ModelError: its file is missing or no ONNX network.
            EngineError: the machine has not what is asked for.
        """
        devices = devices_for(self.device)
        return choose(facts_of(entry, path, devices), self.device, self.precision, devices)


def open_entry(
    entry: CatalogueEntry,
    path: Path,
    choice: Choice,
    *,
    threads: int = 1,
    streams: int = 1,
    cpu_batch: int = DEVICE_BATCH,
    cache: Path | None = None,
    build: bool = False,
) -> WarmSession:
    """Load a network.

    Args:
        entry: The network.
        path: Its file.
        choice: Where it runs; see `Wish.choose`.
        threads: CPU threads of one call.
        streams: Calls that run side by side.
        cpu_batch: Largest batch of one run on the CPU.
        cache: Folder of compiled networks, or None.
        build: Let TensorRT build its engine, which takes minutes.

    Raises:
        ModelError: the file is missing or no ONNX network.
        EngineError: the engine cannot run it.
    """
    return open_session(
        path,
        entry.id,
        choice,
        sha256=sha256_of(entry, path) if choice.device.kind == "tensorrt" else "",
        threads=threads,
        streams=streams,
        max_batch=cpu_batch if choice.device.kind == "cpu" else DEVICE_BATCH,
        cache=cache,
        build=build,
    )


def facts_of(entry: CatalogueEntry, path: Path, devices: Sequence[Device]) -> ModelFacts:
    """What the choice has to know of a network.

    Of a network that comes with mien a check can only take precisions away: which are safe has been measured with
    more than a check does, such as the steadiness of landmarks.

    Raises:
        ModelError: the file is missing or no ONNX network.
    """
    checked: dict[tuple[str, str], bool] = {}
    if verdict_folder().is_dir():
        sha256 = sha256_of(entry, path)
        for device in devices:
            checked |= checked_precisions(sha256, device, engine_version(device.engine))
    if isinstance(entry, BundledEntry):
        checked = {key: passed for key, passed in checked.items() if not passed}
    built: set[tuple[str, str]] = set()
    for device in devices:
        if device.kind == "tensorrt":
            built |= built_engines(path, sha256_of(entry, path), device)
    return ModelFacts(entry.id, entry.precisions, file_precision(path), checked, frozenset(built))


def sha256_of(entry: CatalogueEntry, path: Path) -> str:
    """Of a network's file; it is read once and remembered.

    Raises:
        ModelError: it cannot be read.
    """
    return entry.sha256 if isinstance(entry, BundledEntry) else checksum_of(path, "sha256", digest_folder())
