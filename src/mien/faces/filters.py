"""Smoothing over time: the One Euro filter (Casiez, Roussel, Vogel 2012), as pure functions on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Numbers = NDArray[np.floating[Any]] | float


@dataclass(frozen=True, slots=True)
class OneEuro:
    """How a signal is smoothed: strongly at rest, hardly in motion."""

    min_cutoff_hz: float
    """Cut-off at rest: lower = steadier."""
    gain: float
    """Hz by which the cut-off rises for each unit of speed: higher = less lag."""
    speed_cutoff_hz: float = 4.0
    """Cut-off of the speed estimate."""
    rest_speed: float = 0.0
    """Speed that noise alone shows: only what is above it raises the cut-off."""
    lead: float = 0.0
    """How much of the estimated motion is foreseen, 0..1: 1 has no lag in steady motion, but overshoots a stop."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a filter remembers."""

    value: Floats
    """The smoothed signal."""
    speed: Floats
    """Its smoothed change in units a second, of the same shape."""


def start(value: Floats) -> Filtered:
    """The state of a filter that has seen one value."""
    return Filtered(value, np.zeros_like(value))


def ahead(state: Filtered, dt_s: float) -> Floats:
    """The value to expect `dt_s` seconds on, if the signal keeps its speed."""
    return (state.value + dt_s * state.speed).astype(np.float32)


def smoothing(cutoff_hz: Numbers, dt_s: float) -> Numbers:
    """Weight 0..1 of a new value in an exponential filter of that cut-off, `dt_s` after the last one."""
    step = 2 * math.pi * cutoff_hz * dt_s
    return step / (step + 1)


def step_to(state: Filtered, value: Floats, dt_s: float, settings: OneEuro) -> Filtered:
    """Take the next value as it is, and learn the speed from it."""
    measured = (value - state.value) / dt_s
    change = smoothing(settings.speed_cutoff_hz, dt_s) * (measured - state.speed)
    return Filtered(value, (state.speed + change).astype(np.float32))


def advance(
    state: Filtered,
    value: Floats,
    dt_s: float,
    settings: OneEuro,
    magnitude: Callable[[Floats], Numbers] = np.abs,
) -> Filtered:
    """Take in the next value.

    Args:
        state: What the filter remembers.
        value: The new value.
        dt_s: Seconds since the last one, above 0.
        settings: How to smooth.
        magnitude: From speeds to those that set the cut-off (per element by default; must broadcast to `value`).
    """
    speed = step_to(state, value, dt_s, settings).speed
    motion = np.maximum(magnitude(speed) - settings.rest_speed, 0)
    weight = smoothing(settings.min_cutoff_hz + settings.gain * motion, dt_s)
    expected = state.value + settings.lead * dt_s * state.speed
    result = expected + weight * (value - expected)
    return Filtered(result.astype(np.float32), speed)
