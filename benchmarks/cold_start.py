"""How long a user waits: for `mien --help`, and for the first frame of a video job, each in a fresh process."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from _clips import SOURCE, talking_clip
from _measure import arguments, output, run_job, save, summary


def help_seconds() -> float:
    """Wall time of `mien --help`."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "mien", "--help"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def main() -> None:
    repeats = 7 if arguments(__doc__ or "").full else 3
    helps = [help_seconds() for _ in range(repeats)]
    results = {"repeats": repeats, "help_s": round(statistics.median(helps), 3)}
    for width, height in ((1280, 720), (1920, 1080)):
        clip = talking_clip(width, height, 6)
        options = json.dumps({"end": "1"})
        runs = [run_job("swap", SOURCE, clip, output("mien.mp4"), options) for _ in range(repeats)]
        results[f"first_frame_{height}p_s"] = summary(runs)["first_frame_s"]
    print(", ".join(f"{name} {value}" for name, value in results.items()))
    save("cold_start", results)


if __name__ == "__main__":
    main()
