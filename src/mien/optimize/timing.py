"""How fast networks are and what they hold: run in turn, so that whatever else the machine does meets all of them."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from mien.engine.choose import Choice
from mien.engine.device import Device, find_device
from mien.engine.memory import ProcessMeter
from mien.engine.opening import engine_version
from mien.engine.session import Session
from mien.errors import EngineError
from mien.models.catalogue import CatalogueEntry
from mien.models.opening import open_entry
from mien.optimize.graph import Inputs

REPEATS = 15
"""Rounds, each of which runs every network once."""
LEAST_S = 0.01
"""A measurement shorter than this is repeated within its round: clocks and caches are coarser."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What loads a network."""

    entry: CatalogueEntry
    path: Path
    choice: Choice

    def open(self) -> Session:
        """Load it for single items on one thread.

        Raises:
            ModelError, EngineError: it cannot be.
        """
        return open_entry(self.entry, self.path, self.choice, cpu_batch=1)


Clock = Callable[[], float]


def clock_of(device: Device) -> Clock:
    """What times a device by: a processor by the time that this process has it, which others do not lengthen."""
    return time.process_time if device.kind in ("cpu", "onnxruntime") else time.perf_counter


def in_turn(
    runs: Sequence[Callable[[], object]], repeats: int = REPEATS, *, clock: Clock = time.process_time
) -> list[list[float]]:
    """Seconds of each run in each round: one list a run, all of the same length. The first calls are not counted.

    Args:
        runs: What is timed.
        repeats: Rounds.
        clock: See `clock_of`.
    """
    calls = [_calls_for(run) for run in runs]
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, count, taken in zip(runs, calls, times, strict=True):
            began = clock()
            for _ in range(count):
                run()
            taken.append((clock() - began) / count)
    return times


def of_item(session: Session, items: Sequence[Inputs]) -> Callable[[], object]:
    """A run of a session with the first item: networks take as long for any other."""
    first = items[0]
    return lambda: session.run(first)


def held_bytes(opened: Opened, item: Inputs) -> int | None:
    """What a network holds after a run, measured in a process of its own; None where the system does not tell.

    Raises:
        EngineError: the process died, or the network does not run.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_measure, args=(theirs, opened, item), daemon=True)
    child.start()
    theirs.close()
    try:
        answer = ours.recv()
    except EOFError as error:
        raise EngineError(f"{opened.path} took its process down while its memory was measured") from error
    finally:
        child.join()
        ours.close()
    if isinstance(answer, str):
        raise EngineError(f"{opened.path} does not run: {answer}")
    return answer


def _measure(pipe: Connection, opened: Opened, item: Inputs) -> None:
    """In the process of its own."""
    try:
        engine_version(opened.choice.engine)  # Loads the engine, which is not the network's.
        find_device("cpu")
        meter = ProcessMeter()
        before = meter.used_bytes()
        session = opened.open()
        session.run(item)
        pipe.send(meter.used_bytes() - before)
    except OSError:
        pipe.send(None)
    except Exception as error:  # told by the process that asked
        pipe.send(f"{type(error).__name__}: {error}")
    finally:
        pipe.close()


def _calls_for(run: Callable[[], object]) -> int:
    run()
    began = time.perf_counter()
    run()
    return max(1, round(LEAST_S / max(time.perf_counter() - began, 1e-6)))
