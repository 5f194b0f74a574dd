"""Is the invisible watermark found after all that happens to pictures and clips, and never where there is none?

What it costs is measured too: decibels, time at 1080p, and bytes of the coded clip.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import cv2
import numpy as np

from _measure import arguments, save
from mien.media.recoding import Pixels, through_video, video_bytes
from mien.trust.watermark import Detection, Watermark, detect
from mien.trust.watermark.attacks import CLIP_ATTACKS, PICTURE_ATTACKS
from mien.trust.watermark.detection import FALSE_ALARMS, THRESHOLD
from support.animate import Clip
from support.drawn import DRAWN
from support.people import INVENTED, NAMES, invented, picture, still
from support.pictures import psnr
from support.scenes import talking_head
from support.watermarked import MARK, SCENES, bits_right, clip, marked, marked_clip, plane_frame, unmarked

SINGLE_FRAMES = 5
"""Frames of a clip that are also read each by itself."""
TIMED_FRAMES = 50


def pictures() -> dict[str, Callable[[], Pixels]]:
    """Photographs, invented people and drawn ones."""
    photographs = {name: (lambda name=name: picture(name)) for name in NAMES}
    people = {name: (lambda name=name: invented(name)) for name in INVENTED}
    return {**photographs, **people, **DRAWN}


def found(detections: Iterable[Detection]) -> dict[str, Any]:
    """How many carry the mark still, and how clearly."""
    all_of_them = list(detections)
    return {
        "inputs": len(all_of_them),
        "ids_found": sum(one.mark_id == MARK for one in all_of_them),
        "lowest_score": round(min(one.score for one in all_of_them), 1),
        "bits_right_pct": round(100 * float(np.mean([bits_right(one) for one in all_of_them])), 2),
    }


def of_pictures() -> dict[str, Any]:
    """By attack, and the loss."""
    originals = {name: make() for name, make in pictures().items()}
    with_mark = {name: marked(original) for name, original in originals.items()}
    losses = [psnr(originals[name], one) for name, one in with_mark.items()]
    return {
        "psnr_db": {"lowest": round(min(losses), 1), "mean": round(float(np.mean(losses)), 1)},
        "attacks": {
            name: found(detect([attack(one)]) for one in with_mark.values()) for name, attack in PICTURE_ATTACKS.items()
        },
    }


def of_clips(scenes: tuple[str, ...]) -> dict[str, Any]:
    """By attack, for clips of two seconds: read from all frames, and from single ones before any vote."""
    attacked = {scene: _attacked(scene) for scene in scenes}
    return {
        name: {
            "voted": found(detect(clips[name][::2]) for clips in attacked.values()),
            "single_frames": found(
                detect([frame]) for clips in attacked.values() for frame in clips[name][2 :: 50 // SINGLE_FRAMES]
            ),
        }
        for name in CLIP_ATTACKS
    }


def _attacked(scene: str) -> Mapping[str, list[Pixels]]:
    written = through_video(marked_clip(clip(scene)), "libx264", 18)
    return {name: attack(written) for name, attack in CLIP_ATTACKS.items()}


def of_unmarked(count: int) -> dict[str, Any]:
    """Scores of pictures without a mark."""
    scores = [detect([one]).score for one in unmarked(count // 5)]
    return {
        "inputs": len(scores),
        "found": sum(score >= THRESHOLD for score in scores),
        "threshold": THRESHOLD,
        "bound_on_false_alarms": round(FALSE_ALARMS, 6),
        "highest_score": round(max(scores), 2),
        "mean_score": round(float(np.mean(scores)), 2),
    }


def of_cost() -> dict[str, Any]:
    """Processor time of marking 1080p frames on one core, of finding a mark, and bytes of clips with and without."""
    scene = Clip(talking_head(still("grace_hopper"), width=1920, height=1080, seconds=0.2))
    frames = [plane_frame(one) for one in scene.pictures()]
    watermark = Watermark(MARK)
    for frame in frames:  # the first edit of a frame moves it to memory of its own
        watermark.embed(frame)
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        marking = min(_seconds(lambda: watermark.embed(frames[0])) for _ in range(TIMED_FRAMES))
        looking = min(_seconds(lambda: detect([picture("astronaut")])) for _ in range(3))
    finally:
        cv2.setNumThreads(threads)
    return {"embed_1080p_ms": round(1000 * marking, 2), "search_unmarked_s": round(looking, 3), **_bytes()}


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _bytes() -> dict[str, Any]:
    def share(crf: int) -> Iterator[float]:
        for scene in SCENES[:3]:
            frames = clip(scene)
            yield len(video_bytes(marked_clip(frames), "libx264", crf)) / len(video_bytes(frames, "libx264", crf)) - 1

    return {f"more_bytes_crf_{crf}_pct": [round(100 * one, 1) for one in share(crf)] for crf in (18, 23, 28)}


def main() -> None:
    full = arguments(__doc__ or "").full
    results = {
        "pictures": of_pictures(),
        "clips": of_clips(SCENES if full else SCENES[:2]),
        "unmarked": of_unmarked(1000 if full else 100),
        "cost": of_cost(),
    }
    save("marks", results)


if __name__ == "__main__":
    main()
