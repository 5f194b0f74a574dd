"""What the batcher costs and gains: a call through it, batches against one by one, jobs together against in turn."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from _measure import arguments, save
from mien.engine.batcher import Batcher
from mien.engine.device import find_device
from mien.engine.onnx_file import OnnxFile
from mien.engine.openvino import OpenVinoSession
from mien.engine.session import Ran, Session, Tensors, Usage
from mien.models.catalogue import find_model
from mien.models.opening import Wish

NETWORKS = ("face_mesh_478", "dlib_face_recognition", "selfie_segmentation", "span_x2")
SIZES = (1, 4, 16)
JOBS = 4
TILE = 128


class Nothing:
    """A network that takes no time: what is left is the batcher."""

    ran = Ran("nothing", "none", "none", "fp32")
    usage = Usage()

    def run(self, inputs: Tensors) -> dict[str, np.ndarray]:
        return {"y": inputs["x"]}


def microseconds(call: Callable[[], object], repeats: int = 5000) -> float:
    """Of one call: the least mean of several rounds, since others use the machine too."""
    rounds: list[float] = []
    for _ in range(7):
        began = time.perf_counter()
        for _ in range(repeats):
            call()
        rounds.append((time.perf_counter() - began) / repeats * 1e6)
    return round(min(rounds), 2)


def costs() -> dict[str, float]:
    network = Nothing()
    inputs = {"x": np.zeros((1, 8), np.float32)}
    with Batcher(network) as batcher:
        session = batcher.session("job")
        return {
            "direct_us": microseconds(lambda: network.run(inputs)),
            "idle_us": microseconds(lambda: session.run(inputs)),
            "queued_us": microseconds(lambda: batcher.submit("job", inputs).result(), 500),
        }


def open_network(model: str, threads: int = 1, streams: int = 1) -> tuple[OpenVinoSession, dict[str, np.ndarray]]:
    """A bundled network and one item for it; every batch size has run once."""
    entry, device = find_model(model), find_device("cpu")
    session = OpenVinoSession(
        entry.path,
        model=model,
        device=device,
        precision=Wish().choose(entry, entry.path).precision,
        threads=threads,
        streams=streams,
        max_batch=max(SIZES),
    )
    rng = np.random.default_rng(0)
    item = {
        port.name: rng.random([TILE if isinstance(side, str) else side for side in port.shape[1:]], np.float32)
        for port in OnnxFile(entry.path).inputs
    }
    for size in SIZES:
        session.run(together(item, size))
    return session, item


def together(item: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    return {name: np.repeat(value[None], count, axis=0) for name, value in item.items()}


def gains(repeats: int) -> dict[str, dict[str, float]]:
    """CPU milliseconds an item, by the size of the batch; sizes in turn, the median of the repeats."""
    found: dict[str, dict[str, float]] = {}
    for model in NETWORKS:
        session, item = open_network(model)
        times: dict[int, list[float]] = {size: [] for size in SIZES}
        for _ in range(repeats):
            for size in SIZES:
                batch = together(item, size)
                began = time.process_time()
                session.run(batch)
                times[size].append((time.process_time() - began) / size * 1000)
        found[model] = {f"{size}_ms": round(statistics.median(times[size]), 2) for size in SIZES}
    return found


def jobs(model: str, calls: int, repeats: int) -> dict[str, Any]:
    """Several jobs, each a chain of calls with one item: at once through one batcher, and one job after the other.

    Both may use all cores: in turn, by the threads of a call; at once, by streams and as many runners.
    """
    cores = len(os.sched_getaffinity(0))
    alone, item = open_network(model, threads=cores)
    shared, _ = open_network(model, streams=cores)
    one = together(item, 1)

    def chain(network: Session) -> None:
        for _ in range(calls):
            network.run(one)

    in_turn: list[float] = []
    at_once: list[float] = []
    for _ in range(repeats):
        in_turn.append(seconds(lambda: [chain(alone) for _ in range(JOBS)]))
        with Batcher(shared, runners=cores) as batcher:
            sessions = [batcher.session(str(job)) for job in range(JOBS)]
            at_once.append(seconds(lambda sessions=sessions: run_threads([lambda s=s: chain(s) for s in sessions])))
            figures = batcher.figures
    return {
        "in_turn_items_per_s": round(JOBS * calls / statistics.median(in_turn), 1),
        "at_once_items_per_s": round(JOBS * calls / statistics.median(at_once), 1),
        "mean_batch": round(figures.mean_size, 2),
        "p95_wait_ms": round(figures.p95_wait_s * 1000, 2),
    }


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def run_threads(works: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    full = arguments(__doc__ or "").full
    results: dict[str, Any] = {
        "batcher": costs(),
        "batches": gains(15 if full else 5),
        "jobs": {model: jobs(model, 50, 9 if full else 3) for model in NETWORKS[:2]},
    }
    save("batching", results)


if __name__ == "__main__":
    main()
