"""Peak memory while 1 GB of networks is loaded with eight threads asking at once, each way in a fresh process.

The networks are stand-ins of the sizes that the field's swapper, restorer and recogniser have (529, 340 and 170 MB),
made once with random weights (needs the package `onnx`) and kept in benchmarks/work.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from _measure import HERE, WORK, arguments, save
from mien.engine.device import find_device

SHAPES = {"swapper": (1024, 14), "restorer": (768, 16), "recogniser": (512, 18)}
"""Channels and blocks."""


def stand_ins() -> list[Path]:
    files = [WORK / f"{name}.onnx" for name in SHAPES]
    for path in files:
        if not path.exists():
            from support.networks import residual_network

            WORK.mkdir(exist_ok=True)
            channels, blocks = SHAPES[path.stem]
            part = path.with_suffix(".part")
            residual_network(part, channels=channels, blocks=blocks)
            part.rename(path)
    return files


def load(how: str, precision: str, files: list[Path]) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "_loads.py"), how, precision, *map(str, files)]
    said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    disk_bytes = sum(path.stat().st_size for path in files)
    return {
        "seconds": round(said["seconds"], 1),
        **{f"{name}_over_file_size": round(said[f"{name}_bytes"] / disk_bytes, 2) for name in ("peak", "held", "left")},
    }


def main() -> None:
    arguments(__doc__ or "")
    files = stand_ins()
    precisions = [name for name in ("bf16", "fp32") if name in find_device("cpu").precisions]
    results: dict[str, Any] = {"weights_mb": round(sum(path.stat().st_size for path in files) / 1e6)}
    for precision in precisions:
        results[precision] = {how: load(how, precision, files) for how in ("plain", "residency")}
    save("loading", results)


if __name__ == "__main__":
    main()
