"""What the benchmarks share: the machine, a fresh process for each run, medians, and results as JSON."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
WORK = HERE / "work"
PACKAGES = ("mien", "av", "numpy", "opencv-python-headless", "openvino", "pillow")
CAPABILITIES = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "amx_int8")


def arguments(description: str) -> argparse.Namespace:
    """`--full` takes the long clips and more repeats; without it a benchmark takes a minute or two."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--full", action="store_true", help="long clips and more repeats")
    return parser.parse_args()


@dataclass(frozen=True, slots=True)
class Run:
    """One run in a process of its own."""

    wall_s: float
    """From the start of the process to its end."""
    cpu_s: float
    peak_bytes: int
    first_frame_s: float
    """From the start of the process to the first finished frame."""
    details: dict[str, Any]
    """What else the job said."""


def run_job(*words: str | Path) -> Run:
    """Run a job of _jobs.py in a fresh process."""
    began = time.monotonic()
    command = [sys.executable, str(HERE / "_jobs.py"), repr(began), *(str(word) for word in words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    wall_s = time.monotonic() - began
    said = json.loads(done.stdout)
    return Run(wall_s, said.pop("cpu_s"), said.pop("peak_bytes"), said.pop("first_frame_s"), said)


def output(name: str) -> Path:
    """Where a job of this benchmark may write; two benchmarks at a time do not meet there."""
    return _outputs() / name


@cache
def _outputs() -> Path:
    WORK.mkdir(exist_ok=True)
    folder = TemporaryDirectory(prefix="outputs_", dir=WORK)
    atexit.register(folder.cleanup)
    return Path(folder.name)


def summary(runs: Sequence[Run]) -> dict[str, float]:
    """Medians of the repeats."""
    return {
        "wall_s": round(statistics.median(run.wall_s for run in runs), 3),
        "cpu_s": round(statistics.median(run.cpu_s for run in runs), 3),
        "first_frame_s": round(statistics.median(run.first_frame_s for run in runs), 3),
        "peak_mb": round(statistics.median(run.peak_bytes for run in runs) / 1e6, 1),
    }


def machine() -> dict[str, Any]:
    """Cores, what the processor can do, memory and versions."""
    flags: set[str] = set()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        flags = {word for line in cpuinfo.read_text().splitlines() if line.startswith("flags") for word in line.split()}
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)),
        "capabilities": [name for name in CAPABILITIES if name in flags],
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
    }


def save(name: str, results: dict[str, Any]) -> Path:
    """Write benchmarks/results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    record = {"measured": datetime.now(UTC).date().isoformat(), "machine": machine(), **results}
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"written to {path.relative_to(HERE.parent)}")
    return path
