"""How much longer mien takes than a plain transcode of the same clip with the same encoder settings.

Both run in fresh processes, in turn, so that whatever else the machine does meets both. Ratios are medians of the
ratios of neighbouring runs.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from _clips import SOURCE, talking_clip
from _measure import arguments, output, run_job, save, summary
from mien.media.encoding import choose_encoding
from mien.media.video import VideoSource

SIZES = {"720p": (1280, 720), "1080p": (1920, 1080)}
PRESETS = {"default": None, "veryfast": "veryfast"}


def encoder_settings(clip: Path, preset: str | None, crf: int | None = None) -> list[str]:
    """Encoder, pixel format and options that mien would choose, for the plain transcode."""
    with VideoSource(clip) as source:
        encoding = choose_encoding(source.info, clip.suffix, crf=crf, preset=preset)
    return [encoding.encoder, encoding.pixel_format, json.dumps(dict(encoding.options))]


def compare(clip: Path, preset: str | None, repeats: int) -> dict[str, Any]:
    """Medians of both and of their ratios."""
    settings = encoder_settings(clip, preset)
    options = json.dumps({"preset": preset} if preset else {})
    plain, ours = [], []
    for _ in range(repeats):
        plain.append(run_job("transcode", clip, output("plain.mp4"), *settings))
        ours.append(run_job("swap", SOURCE, clip, output("mien.mp4"), options))
    frames = ours[0].details["frames"]
    pairs = list(zip(plain, ours, strict=True))
    return {
        "encoder": settings,
        "frames": frames,
        "frames_with_faces": ours[0].details["frames_with_faces"],
        "precisions": ours[0].details["precisions"],
        "transcode": {**summary(plain), "frames_per_second": round(frames / summary(plain)["wall_s"], 1)},
        "mien": {**summary(ours), "frames_per_second": round(frames / summary(ours)["wall_s"], 1)},
        "wall_ratio": round(statistics.median(b.wall_s / a.wall_s for a, b in pairs), 3),
        "cpu_ratio": round(statistics.median(b.cpu_s / a.cpu_s for a, b in pairs), 3),
        "stages": ours[0].details["stages"],
    }


def main() -> None:
    full = arguments(__doc__ or "").full
    results: dict[str, Any] = {}
    for size, (width, height) in SIZES.items():
        clip = talking_clip(width, height, 20 if full else 6)
        for name, preset in PRESETS.items():
            result = results[f"{size} {name}"] = compare(clip, preset, 3 if full else 1)
            ours = result["mien"]
            print(
                f"{size} {name}: {result['wall_ratio']:.2f} times a transcode's wall time, "
                f"{ours['frames_per_second']} frames/s, {ours['peak_mb']:.0f} MB"
            )
    save("speed", {"repeats": 3 if full else 1, "results": results})


if __name__ == "__main__":
    main()
