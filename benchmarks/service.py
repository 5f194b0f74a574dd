"""What does a worker do with many small pictures at once, and does its memory stay as it is?

Pictures one at a time (the next is queued when the one before has ended) against all at once, on one worker with two
slots; then many more jobs, with the worker's resident memory after each hundredth part.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from PIL import Image

from _measure import save
from mien.service.valkey import EmbeddedValkey
from support.jobs import ASTRONAUT, HOPPER
from support.service import Place, working


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="500 jobs for the memory instead of 100")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mien-") as name:
        save("service", _measure(Path(name), 500 if options.full else 100))
    return 0


def _measure(folder: Path, jobs: int) -> dict[str, object]:
    small = folder / "small.jpg"
    with Image.open(HOPPER) as picture:
        picture.resize((320, 400)).save(small)
    with EmbeddedValkey(folder / "queue") as valkey:
        place = Place(folder, valkey)
        recipe = {"sources": [place.upload(ASTRONAUT)], "target": place.upload(small), "output": "out.jpg"}
        with working(place, 1, "--slots", "2") as (worker,):
            _together(place, recipe, 8)
            one_by_one_s = min(_one_by_one(place, recipe, 20) for _ in range(3))
            together_s = min(_together(place, recipe, 20) for _ in range(3))
            sizes = [_resident_bytes(worker.pid)]
            for _ in range(jobs // 20):
                _together(place, recipe, 20)
                sizes.append(_resident_bytes(worker.pid))
        place.state.client.close()
    early, late = median(sizes[: len(sizes) // 3 + 1]), median(sizes[-(len(sizes) // 3) :])
    return {
        "one_by_one_per_second": round(20 / one_by_one_s, 2),
        "together_per_second": round(20 / together_s, 2),
        "gain": round(one_by_one_s / together_s, 2),
        "jobs": jobs,
        "resident_mb": [round(size / 1e6) for size in sizes],
        "growth_percent": round(100 * (late / early - 1), 2),
    }


def _one_by_one(place: Place, recipe: dict[str, object], jobs: int) -> float:
    began = time.perf_counter()
    for _ in range(jobs):
        place.wait([place.submit(recipe)])
    return time.perf_counter() - began


def _together(place: Place, recipe: dict[str, object], jobs: int) -> float:
    began = time.perf_counter()
    place.wait([place.submit(recipe) for _ in range(jobs)])
    return time.perf_counter() - began


def _resident_bytes(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096


if __name__ == "__main__":
    sys.exit(main())
