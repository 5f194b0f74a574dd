"""Compiling a network before it is needed, in a process of its own: what an engine takes or breaks stays there."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from mien.engine.built import is_sound, make_room, seal
from mien.engine.cache import open_cache
from mien.engine.choose import Choice
from mien.engine.opening import MOST, engines_of
from mien.errors import EngineError, MienError
from mien.models.catalogue import BundledEntry
from mien.models.loading import load_alone
from mien.models.opening import open_entry, sha256_of
from mien.models.shelf import CPU_BATCH
from mien.models.store import Located

LOOK_S = 0.25
"""Between two looks at the process."""

OnProgress = Callable[[float, int], None]
"""Hears seconds so far and bytes written so far."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of it."""

    folder: Path
    bytes: int
    """Written now; 0 if everything was there, or the engine takes the weights from the file itself."""
    seconds: float


def compile_apart(
    located: Located, choice: Choice, on_progress: OnProgress = lambda _seconds, _bytes: None
) -> Compiled:
    """Fill the cache of compiled networks, or build TensorRT's engine, unless it is there and whole.

    Args:
        located: The network.
        choice: What for.
        on_progress: Called a few times a second.

    Raises:
        ModelError: the file is no ONNX network.
        EngineError: the engine cannot compile it, there is no folder for it, or its process died.
    """
    folder = _folder(located, choice)
    before = _size(folder)
    if choice.device.kind == "tensorrt":
        if is_sound(folder):
            return Compiled(folder, 0, 0.0)
        make_room(folder)
        before = 0
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_compile, args=(located, choice, folder, theirs), name="mien-compile")
    began = time.monotonic()
    process.start()
    theirs.close()
    try:
        while process.is_alive():
            process.join(LOOK_S)
            on_progress(time.monotonic() - began, _size(folder) - before)
    finally:
        process.kill()
        process.join()
    outcome = _outcome(ours)
    if isinstance(outcome, MienError):
        raise outcome
    if process.exitcode != 0:
        raise EngineError(
            f"{located.entry.id} could not be compiled: its process ended with code {process.exitcode}; if it was "
            "killed, there was too little memory"
        )
    return Compiled(folder, _size(folder) - before, time.monotonic() - began)


def _compile(located: Located, choice: Choice, folder: Path, told: Connection) -> None:
    """In the process of its own."""
    try:
        if choice.device.kind == "tensorrt":
            open_entry(located.entry, located.path, choice, build=True).warm((1, MOST))
            seal(folder)
        elif isinstance(located.entry, BundledEntry):
            open_entry(located.entry, located.path, choice, cpu_batch=CPU_BATCH, cache=folder)
        else:
            load_alone(located, choice)
    except MienError as error:
        told.send(error)


def _outcome(pipe: Connection) -> object:
    try:
        return pipe.recv() if pipe.poll() else None
    except EOFError:
        return None


def _folder(located: Located, choice: Choice) -> Path:
    if choice.device.kind == "tensorrt":
        sha256 = sha256_of(located.entry, located.path)
        return engines_of(located.path, sha256, choice.device, choice.precision).folder
    cache = open_cache()
    if cache.folder is None:
        raise EngineError(f"{located.entry.id} is not compiled: {cache.warning}")
    return cache.folder


def _size(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size
        except FileNotFoundError:
            continue  # Renamed meanwhile.
    return total
