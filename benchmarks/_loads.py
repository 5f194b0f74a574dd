"""Loads networks in a process of its own, started by loading.py: `_loads.py HOW PRECISION FILE...`.

Prints one JSON object: seconds and bytes before, at the peak, held after the first runs, and after the networks left.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mien.engine.device import core, find_device
from mien.engine.memory import ProcessMeter
from mien.engine.openvino import OpenVinoSession
from mien.engine.residency import Residency

THREADS = 8
INPUTS = {"x": np.zeros((1, 3, 16, 16), np.float32)}


def residency(files: Sequence[Path], precision: str) -> Callable[[], object]:
    """All threads ask for all networks at once."""
    loaded: Residency[OpenVinoSession] = Residency(1 << 40, meter=ProcessMeter())

    def ask(number: int) -> None:
        for place in range(len(files)):
            path = files[(place + number) % len(files)]
            with loaded.lease(path.stem, lambda path=path: open_network(path, precision)):
                pass

    run_threads([lambda number=number: ask(number) for number in range(THREADS)])
    return loaded.clear


def plain(files: Sequence[Path], precision: str) -> Callable[[], object]:
    """What the engine does by itself: one thread a network, each read and compiled once."""
    kept: list[Any] = []

    def load(path: Path) -> None:
        options = {"INFERENCE_PRECISION_HINT": precision.replace("fp", "f"), "INFERENCE_NUM_THREADS": 1}
        compiled = core().compile_model(core().read_model(path), "CPU", options)
        compiled(INPUTS)
        kept.append(compiled)

    run_threads([lambda path=path: load(path) for path in files])
    return kept.clear


def open_network(path: Path, precision: str) -> OpenVinoSession:
    return OpenVinoSession(path, model=path.stem, device=find_device("cpu"), precision=precision)


def run_threads(works: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def status_bytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def main() -> None:
    how, precision, *names = sys.argv[1:]
    find_device("cpu")
    base_bytes = status_bytes("VmRSS")
    began = time.perf_counter()
    leave = {"residency": residency, "plain": plain}[how]([Path(name) for name in names], precision)
    seconds = time.perf_counter() - began
    peak_bytes, held_bytes = status_bytes("VmHWM"), status_bytes("VmRSS")
    leave()
    said = {
        "seconds": seconds,
        "peak_bytes": peak_bytes - base_bytes,
        "held_bytes": held_bytes - base_bytes,
        "left_bytes": status_bytes("VmRSS") - base_bytes,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
