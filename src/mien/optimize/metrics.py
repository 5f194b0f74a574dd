"""How far a cheaper network's answers are from its parent's, metric by metric, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.optimize.intervals import Floats, Interval, of_mean, of_pairs
from mien.quality.fidelity import Answers
from mien.quality.metrics import psnr

MOST_DB = 99.0
"""Equal pictures count as this, since means of infinite values say nothing."""
FLOOR = {"landmarks": 0.02, "picture": 0.5 / 255}
"""Tremor under which answers count as still: a fiftieth of a pixel, half a level."""
BORDER = 0.03
"""Distances this near to the bound between one person and two decide nothing: another crop of the same pictures moves
them as much, and so may an artefact (see the gate's bar of the distance error)."""
_SSIM_C1, _SSIM_C2 = 0.01**2, 0.03**2
"""Of Wang et al. 2004, for values in 0..1."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of an artefact against its parent."""

    name: str
    unit: str
    value: float
    """Mean over the held-out faces."""
    low: float
    """Lower bound of the mean with 95 % confidence."""
    high: float
    worst: float
    """Of a single face or pair."""
    higher_is_better: bool
    items: int
    """Faces or pairs."""

    @property
    def doubtful(self) -> float:
        """The bound of the interval that is the worse one."""
        return self.low if self.higher_is_better else self.high


def compare(exact: Answers, other: Answers, *, same_under: float | None = None) -> tuple[Metric, ...]:
    """Metrics of the answers' kind. Answers of another shape, or that are no numbers, are as bad as can be.

    Args:
        exact: The parent's.
        other: The artefact's, of the same faces.
        same_under: Of embeddings whose length means something: the distance under which two show one person.
    """
    broken = exact.values.shape != other.values.shape or not np.isfinite(other.values).all()
    a = exact.values.astype(np.float64)
    b = np.full_like(a, np.inf) if broken else other.values.astype(np.float64)
    if exact.kind == "embedding":
        return _of_embeddings(a, b, same_under)
    if exact.kind == "landmarks":
        shift = np.linalg.norm(a - b, axis=-1)
        return (
            _metric("landmark shift", "px", shift.mean(axis=1), better="low"),
            _metric("largest landmark shift", "px", shift.max(axis=1), better="low"),
        )
    if exact.kind == "labels":
        equal = (a == b).reshape(len(a), -1).mean(axis=1)
        return (_metric("equal labels", "", equal, better="high"),)
    decibels = [0.0 if broken else min(psnr(one, two, peak=1.0), MOST_DB) for one, two in zip(a, b, strict=True)]
    likeness = [0.0 if broken else ssim(one, two) for one, two in zip(a, b, strict=True)]
    error = np.abs(a - b).reshape(len(a), -1).max(axis=1)
    return (
        _metric("PSNR", "dB", decibels, better="high"),
        _metric("SSIM", "", likeness, better="high"),
        _metric("largest error", "", error, better="low"),
    )


def lost_decibels(truth: NDArray[Any], exact: NDArray[Any], other: NDArray[Any]) -> Metric:
    """How much farther from the true pictures the artefact is than its parent.

    Args:
        truth: (n, height, width, 3) in 0..1.
        exact: The parent's.
        other: The artefact's.
    """
    if truth.shape != other.shape or not np.isfinite(other).all():
        return _metric("PSNR lost", "dB", [math.inf] * len(truth), better="low")
    lost = [
        min(psnr(one, by_parent, peak=1.0), MOST_DB) - min(psnr(one, by_other, peak=1.0), MOST_DB)
        for one, by_parent, by_other in zip(truth, exact, other, strict=True)
    ]
    return _metric("PSNR lost", "dB", lost, better="low")


def flicker(exact: Sequence[Answers], other: Sequence[Answers]) -> Metric | None:
    """How much more the artefact's answers tremble while pictures slide evenly; None for what cannot tremble.

    RMS second difference over time, of the artefact over the parent's; see `material.moved`.

    Args:
        exact: The parent's answers, one for each step of the slide.
        other: The artefact's.
    """
    kind = exact[0].kind
    if kind not in FLOOR or len({answer.values.shape for answer in exact}) > 1:
        return None
    if any(one.values.shape != two.values.shape for one, two in zip(exact, other, strict=True)):
        return _metric("flicker", "times", [math.inf], better="low")
    before, after = (_tremor(answers) for answers in (exact, other))
    ratios = np.hypot(after, FLOOR[kind]) / np.hypot(before, FLOOR[kind])
    return _metric("flicker", "times", np.where(np.isfinite(ratios), ratios, np.inf), better="low")


def ssim(a: Floats, b: Floats) -> float:
    """Structural similarity of two pictures (height, width, ...) in 0..1 (Wang et al. 2004, Gaussian of 1.5 pixels)."""
    first, second = (_planes(picture) for picture in (a, b))

    def blur(values: Floats) -> Floats:
        return np.asarray(cv2.GaussianBlur(values, (11, 11), 1.5), np.float64).reshape(values.shape)

    mean_a, mean_b = blur(first), blur(second)
    var_a, var_b = blur(first**2) - mean_a**2, blur(second**2) - mean_b**2
    covariance = blur(first * second) - mean_a * mean_b
    luminance = (2 * mean_a * mean_b + _SSIM_C1) / (mean_a**2 + mean_b**2 + _SSIM_C1)
    structure = (2 * covariance + _SSIM_C2) / (var_a + var_b + _SSIM_C2)
    return float((luminance * structure).mean())


def _of_embeddings(a: Floats, b: Floats, same_under: float | None) -> tuple[Metric, ...]:
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    with np.errstate(invalid="ignore"):
        cosine = np.nan_to_num((a * b).sum(axis=1) / lengths, nan=-1.0)
    found = [_metric("cosine", "", cosine, better="high")]
    if same_under is None:
        with np.errstate(invalid="ignore"):
            a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (a, b))
    if len(a) < 2:
        return tuple(found)
    with np.errstate(invalid="ignore"):
        before, after = (np.linalg.norm(rows[:, None] - rows[None], axis=-1) for rows in (a, b))
    if not np.isfinite(after).all():
        after = np.full_like(before, np.inf)
    error = np.abs(after - before)
    found.append(_pair_metric("distance error", "", error, better="low"))
    if same_under is not None:
        same = (before < same_under) == (after < same_under)
        equal = (same | (np.abs(before - same_under) <= BORDER)).astype(np.float64)
        found.append(_pair_metric("equal decisions", "", equal, better="high"))
    return tuple(found)


def _metric(name: str, unit: str, values: Sequence[float] | Floats, *, better: str) -> Metric:
    array = np.asarray(values, np.float64)
    return _make(name, unit, of_mean(array), array, better=better)


def _pair_metric(name: str, unit: str, matrix: Floats, *, better: str) -> Metric:
    return _make(name, unit, of_pairs(matrix), matrix[np.triu_indices(len(matrix), 1)], better=better)


def _make(name: str, unit: str, interval: Interval, values: Floats, *, better: str) -> Metric:
    worst = values.min() if better == "high" else values.max()
    return Metric(name, unit, interval.value, interval.low, interval.high, float(worst), better == "high", len(values))


def _tremor(answers: Sequence[Answers]) -> Floats:
    """RMS second difference of each item."""
    steps = np.stack([answer.values for answer in answers]).astype(np.float64)
    bend = steps[2:] - 2 * steps[1:-1] + steps[:-2]
    return np.sqrt(np.square(bend).mean(axis=(0, *range(2, bend.ndim))))


def _planes(picture: Floats) -> Floats:
    return np.ascontiguousarray(picture.reshape(*picture.shape[:2], -1), np.float64)
