"""How far a network in another precision is from itself in float32, and whether that is near enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mien.errors import UsageError
from mien.quality.metrics import psnr

Kind = Literal["picture", "embedding", "landmarks", "labels"]
"""What a network gives: values in 0..1 (masks, too), vectors, points in pixels of its crop, or classes."""

LEAST_PSNR_DB = 38.0
"""Of pictures: less is seen side by side."""
MOST_ERROR = 0.25
"""Of a single value of a picture: specks are seen, however near the rest is."""
LEAST_COSINE = 0.999
"""Of embeddings: a tenth of what two pictures of one person differ by."""
MOST_SHIFT_PX = 0.5
"""Of landmarks, averaged over a face: more makes faces tremble."""
LEAST_AGREEMENT = 0.995
"""Of labels: what is left lies on borders."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a network said about several items."""

    kind: Kind
    values: NDArray[Any]
    """Pictures (n, height, width, ...) in 0..1, vectors (n, d), points (n, k, 2), or labels (n, ...)."""


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Figures over all items; the worst item decides."""

    kind: Kind
    items: int
    psnr_db: float | None
    """Of the worst picture; None for what is none."""
    cosine: float
    """Of the worst item; 1 of labels that are equal."""
    max_error: float
    """Largest difference of a value; of points the largest distance in pixels."""
    figure: float
    """What is compared with the bar: dB, cosine, mean shift of the worst face in pixels, or share of equal labels."""

    @property
    def passed(self) -> bool:
        """Whether the figure reaches the bar, and no value of a picture is far off."""
        bar = _BARS[self.kind]
        if self.kind == "picture" and self.max_error > MOST_ERROR:
            return False
        return self.figure <= bar if self.kind == "landmarks" else self.figure >= bar

    def __str__(self) -> str:
        return _WORDS[self.kind].format(figure=self.figure, bar=_BARS[self.kind], error=self.max_error, most=MOST_ERROR)


_BARS = {
    "picture": LEAST_PSNR_DB,
    "embedding": LEAST_COSINE,
    "landmarks": MOST_SHIFT_PX,
    "labels": LEAST_AGREEMENT,
}
_WORDS = {
    "picture": "PSNR {figure:.1f} dB, at least {bar:.0f} dB wanted; largest error {error:.2f}, at most {most} wanted",
    "embedding": "cosine {figure:.6f}, at least {bar} wanted",
    "landmarks": "mean shift {figure:.3f} px, at most {bar} px wanted",
    "labels": "{figure:.2%} of the labels equal, at least {bar:.1%} wanted",
}


def compare(exact: Answers, other: Answers) -> Fidelity:
    """Figures of `other` against `exact`. Another number of items, such as a face that is lost, is a failure.

    Raises:
        UsageError: there is nothing to compare.
    """
    if not len(exact.values):
        raise UsageError("the network finds nothing in these pictures even in float32: give others with --pictures")
    if exact.values.shape != other.values.shape or not np.isfinite(other.values).all():
        return _lost(exact)
    a, b = exact.values.astype(np.float64), other.values.astype(np.float64)
    rows_a, rows_b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    cosine = min(_cosine(one, two) for one, two in zip(rows_a, rows_b, strict=True))
    difference = np.abs(a - b)
    decibels = min(psnr(one, two, peak=1.0) for one, two in zip(a, b, strict=True)) if exact.kind == "picture" else None
    match exact.kind:
        case "picture":
            figure = decibels or 0.0
        case "embedding":
            figure = cosine
        case "landmarks":
            difference = np.linalg.norm(a - b, axis=-1)
            figure = float(difference.mean(axis=1).max())
        case "labels":
            figure = float((rows_a == rows_b).mean(axis=1).min())
    return Fidelity(exact.kind, len(a), decibels, cosine, float(difference.max()), figure)


def _lost(exact: Answers) -> Fidelity:
    worst = math.inf if exact.kind == "landmarks" else 0.0
    decibels = 0.0 if exact.kind == "picture" else None
    return Fidelity(exact.kind, len(exact.values), decibels, 0.0, math.inf, worst)


def _cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else float(np.array_equal(a, b))
