"""Peak memory at 1080p, and whether it grows over a long clip (a short one looped)."""

from __future__ import annotations

import json
import statistics
from typing import Any

from _clips import SOURCE, looped, talking_clip
from _measure import arguments, output, run_job, save

LOOP_SECONDS = 6


def resident_mb(sizes: list[tuple[int, int]], first: int, end: int) -> float:
    """Median resident size while the frames `first` to `end` were done."""
    return statistics.median(size for done, size in sizes if first <= done < end) / 1e6


def main() -> None:
    minutes = 5 if arguments(__doc__ or "").full else 1
    clip = looped(talking_clip(1920, 1080, LOOP_SECONDS), minutes * 60 // LOOP_SECONDS)
    run = run_job("swap", SOURCE, clip, output("mien.mp4"), json.dumps({"preset": "veryfast"}))
    sizes = run.details["resident_bytes"]
    minute = run.details["frames"] // minutes
    results: dict[str, Any] = {
        "minutes_of_video": minutes,
        "frames": run.details["frames"],
        "peak_mb": round(run.peak_bytes / 1e6, 1),
        "resident_mb_each_minute": [round(resident_mb(sizes, i * minute, (i + 1) * minute), 1) for i in range(minutes)],
    }
    half = minute if minutes > 1 else minute // 2
    first = resident_mb(sizes, 0, half)
    last = resident_mb(sizes, run.details["frames"] - half, run.details["frames"] + 1)
    results["growth_percent"] = round(100 * (last / first - 1), 2)
    results["growth"] = "first to last minute" if minutes > 1 else "first to second half"
    print(f"{results['peak_mb']:.0f} MB at most; grew by {results['growth_percent']} % ({results['growth']})")
    save("memory", results)


if __name__ == "__main__":
    main()
