"""Writes the figures of the README from benchmarks/results, between the two marks."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"
BEGIN, END = "<!-- figures: tools/readme_figures.py -->\n", "<!-- end of figures -->"
SIZES = ("720p", "1080p")


def load(name: str) -> dict[str, Any]:
    """One result file."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def row(label: str, *cells: object) -> str:
    """A line of a table."""
    return "| " + " | ".join([label, *map(str, cells)]) + " |"


def paragraph(*parts: str) -> str:
    """Text in lines of the README's width."""
    return textwrap.fill(" ".join(parts), 120)


def figures() -> str:
    """The section's text."""
    speed, start, memory, quality = (load(name) for name in ("speed", "cold_start", "memory", "quality"))
    machine = speed["machine"]
    runs = speed["results"]

    def speed_row(label: str, preset: str, figure: Any) -> str:
        return row(label, *(figure(runs[f"{size} {preset}"]) for size in SIZES))

    lines = [
        paragraph(
            f"Measured on {machine['cores']} cores ({', '.join(machine['capabilities'])}) on {speed['measured']}, with",
            f"clips of one face; medians of {speed['repeats']} runs. The plain transcode decodes and encodes",
            "the same clip with the same settings and does nothing else.",
        ),
        "",
        row("", *SIZES),
        row("---", *["---"] * len(SIZES)),
    ]
    for label, preset in (("the encoder's default preset", "default"), ("preset `veryfast`", "veryfast")):
        lines += [
            speed_row(f"time over a plain transcode's, {label}", preset, lambda run: f"{run['wall_ratio']:.2f}"),
            speed_row(
                f"frames a second, {label} (transcode)",
                preset,
                lambda run: f"{run['mien']['frames_per_second']:.0f} ({run['transcode']['frames_per_second']:.0f})",
            ),
            speed_row(
                f"peak memory in MB, {label} (transcode)",
                preset,
                lambda run: f"{run['mien']['peak_mb']:.0f} ({run['transcode']['peak_mb']:.0f})",
            ),
        ]
    lines += [
        row(
            "seconds from a cold start to the first frame", *(f"{start[f'first_frame_{size}_s']:.1f}" for size in SIZES)
        ),
        "",
        paragraph(
            f"`mien --help` answers in {start['help_s']:.2f} s. Over {memory['minutes_of_video']} minutes of 1080p the",
            f"resident size grows by {memory['growth_percent']} % ({memory['growth']}).",
        ),
        "",
        "Quality, by the bundled networks (two pictures of one person are under 0.60):",
        "",
        row("", "pairs of the stills", "pairs with invented people"),
        row("---", "---", "---"),
    ]
    groups = [quality["stills"], quality["invented"]]
    lines += [
        row("pairs", *(group["pairs"] for group in groups)),
        row("mean identity distance, result to source", *(f"{group['all']['identity']:.2f}" for group in groups)),
        row("share of results under 0.60", *(f"{group['under_0.60']:.0%}" for group in groups)),
        row(
            "edges at the face's outline over the target's, mean (90th percentile)",
            *(f"{group['all']['ring']:.2f} ({group['all']['ring_p90']:.2f})" for group in groups),
        ),
        row("difference of the openness of the eyes", *(f"{group['all']['eyes']:.3f}" for group in groups)),
        row("difference of the openness of the mouth", *(f"{group['all']['mouth']:.3f}" for group in groups)),
    ]
    clips = quality["clips"].values()
    names = ("warp_face", "warp_ring", "warp_face_original", "jitter", "eyes_correlation", "mouth_correlation")
    face, ring, original, jitter, eyes, mouth = (fmean(clip[name] for clip in clips) for name in names)
    lines += [
        "",
        paragraph(
            f"In {len(clips)} animated clips the face changes along its own motion {face:.2f} times as much as the",
            f"target's ({original:.2f} along the target's, which a new outline does not follow), what is around it",
            f"{ring:.2f} times as much, and its landmarks tremble {jitter:.2f} times as much; the openness of eyes",
            f"and mouth follows the target's with correlations of {eyes:.2f} and {mouth:.2f}.",
        ),
    ]
    return "\n".join(lines) + "\n"


def replaced(readme: str) -> str:
    """The README with today's figures."""
    before, rest = readme.split(BEGIN)
    after = rest[rest.index(END) :]
    return before + BEGIN + figures() + after


if __name__ == "__main__":
    README.write_text(replaced(README.read_text(encoding="utf-8")), encoding="utf-8")
