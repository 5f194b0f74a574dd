"""The gate: whether an artefact may take its parent's place. A pure function of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mien.optimize.intervals import Interval
from mien.optimize.metrics import Metric
from mien.quality.fidelity import LEAST_AGREEMENT, LEAST_COSINE, LEAST_PSNR_DB, MOST_ERROR, MOST_SHIFT_PX

Outcome = Literal["passed", "does not pay", "refused"]
"""`refused`: the quality is under the bar. `does not pay`: it is not, but nothing is gained on this device."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What a metric has to reach."""

    bound: float
    of: Literal["mean", "worst"]
    """Means are taken at the worse end of their interval."""

    def figure(self, metric: Metric) -> float:
        """What of the metric is compared."""
        return metric.worst if self.of == "worst" else metric.doubtful

    def reached(self, metric: Metric) -> bool:
        """Whether it is."""
        figure = self.figure(metric)
        return figure >= self.bound if metric.higher_is_better else figure <= self.bound


BARS: Mapping[str, Bar] = {
    "cosine": Bar(LEAST_COSINE, "worst"),
    "distance error": Bar(0.03, "mean"),  # A twentieth of the distance under which two pictures show one person.
    "equal decisions": Bar(1.0, "worst"),
    "landmark shift": Bar(MOST_SHIFT_PX, "worst"),
    "equal labels": Bar(LEAST_AGREEMENT, "worst"),
    "PSNR": Bar(LEAST_PSNR_DB, "worst"),
    "SSIM": Bar(0.98, "mean"),
    "PSNR lost": Bar(0.2, "mean"),
    "largest error": Bar(MOST_ERROR, "worst"),
    "flicker": Bar(1.1, "mean"),  # A tenth more tremor is not seen beside that of the parent.
}
"""By metric. Metrics without a bar are told and decide nothing."""
INSTEAD = {"PSNR lost": ("PSNR", "SSIM")}
"""Where the truth is known, being near to it counts, and being near to the parent does not."""
LEAST_SPEED = 1.05
"""Times the parent's speed: less is lost in the noise."""
LEAST_SHRINKING = 1.2
"""Times smaller than the parent's file: less is not worth another file."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says."""

    outcome: Outcome
    reasons: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the artefact may become a default on this device."""
        return self.outcome == "passed"


def judge(metrics: Sequence[Metric], speed: Interval, shrinking: float) -> Verdict:
    """Quality first, then whether it pays.

    Args:
        metrics: Of the artefact against its parent, on faces that calibrated nothing.
        speed: Time of the parent over that of the artefact, run in turn on this device.
        shrinking: Bytes of the parent's file over those of the artefact's.
    """
    failed = shortfalls(metrics)
    if failed:
        return Verdict("refused", (*failed, *([_slower(speed)] if speed.high < 1 else [])))
    if not any(metric.name in BARS for metric in metrics):
        return Verdict("refused", ("nothing was measured that the gate has a bar for",))
    if speed.high < 1:
        return Verdict("does not pay", (_slower(speed),))
    if speed.low < LEAST_SPEED and shrinking < LEAST_SHRINKING:
        return Verdict(
            "does not pay",
            (f"{speed.value:.2f} times the parent's speed ({speed.low:.2f} to {speed.high:.2f}) and "
             f"{shrinking:.2f} times smaller: nothing is gained",),
        )  # fmt: skip
    return Verdict("passed", (f"{speed.value:.2f} times the parent's speed, {shrinking:.2f} times smaller",))


def _slower(speed: Interval) -> str:
    return f"it is slower: {speed.value:.2f} times the parent's speed"


def shortfalls(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """What is under its bar, for people."""
    return tuple(
        f"{metric.name} {BARS[metric.name].figure(metric):.4g}{' ' + metric.unit if metric.unit else ''}, "
        f"{'at least' if metric.higher_is_better else 'at most'} {BARS[metric.name].bound:g} wanted "
        f"({'of the worst item' if BARS[metric.name].of == 'worst' else 'with 95 % confidence'})"
        for metric in deciding(metrics)
        if not BARS[metric.name].reached(metric)
    )


def deciding(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """The metrics that have a bar here."""
    names = {metric.name for metric in metrics}
    dropped = {name for better, others in INSTEAD.items() if better in names for name in others}
    return tuple(metric for metric in metrics if metric.name in BARS and metric.name not in dropped)
