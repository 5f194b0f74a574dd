"""How sure a mean or a ratio is: intervals by drawing the same items anew (bootstrap)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 2000
"""Times that items are drawn anew."""
CONFIDENCE = 0.95
_SEED = 0

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, and between what bounds it lies with 95 % confidence."""

    value: float
    low: float
    high: float


def of_mean(values: Sequence[float] | Floats) -> Interval:
    """Of the mean of single items, at least one."""
    array = np.asarray(values, np.float64)
    return _interval(len(array), lambda rows: array[rows].mean(axis=-1), float(array.mean()))


def of_pairs(matrix: Floats) -> Interval:
    """Of the mean over pairs of different items: (n, n), n >= 2. Whole items are drawn, with their pairs."""
    count = len(matrix)
    above = np.triu_indices(count, 1)

    def mean(rows: NDArray[np.int64]) -> Floats:
        first, second = rows[:, above[0]], rows[:, above[1]]
        values = np.where(first == second, np.nan, matrix[first, second])  # An item has no distance to itself.
        known = np.isfinite(values)
        sums = np.where(known, values, 0.0).sum(axis=1)
        return np.where(known.any(axis=1), sums / np.maximum(known.sum(axis=1), 1), np.nan)

    return _interval(count, mean, float(matrix[above].mean()))


def of_ratio(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Of the ratio of two medians; each side is drawn for itself.

    Args:
        above: Times of one side, at least one, all positive.
        below: Times of the other.
    """
    first, second = np.asarray(above, np.float64), np.asarray(below, np.float64)
    rng = np.random.default_rng(_SEED)
    draws = np.median(first[rng.integers(0, len(first), (DRAWS, len(first)))], axis=1) / np.median(
        second[rng.integers(0, len(second), (DRAWS, len(second)))], axis=1
    )
    return _bounds(draws, float(np.median(first) / np.median(second)))


def of_paired_ratio(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Of the median ratio of runs that stood side by side: what else the machine did met both."""
    ratios = np.asarray(above, np.float64) / np.asarray(below, np.float64)
    return _interval(len(ratios), lambda rows: np.median(ratios[rows], axis=-1), float(np.median(ratios)))


def _interval(count: int, figure: Callable[[NDArray[np.int64]], Floats], value: float) -> Interval:
    rows = np.random.default_rng(_SEED).integers(0, count, (DRAWS, count))
    return _bounds(figure(rows), value)


def _bounds(draws: Floats, value: float) -> Interval:
    known = draws[~np.isnan(draws)]
    if not len(known) or not np.isfinite(known).all():
        return Interval(value, value, value)
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(known, (tail, 100 - tail))
    return Interval(value, float(low), float(high))
