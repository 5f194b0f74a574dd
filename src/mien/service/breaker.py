"""When a canary gets no more traffic, and when it is tried again: pure functions of what was seen.

    closed ── five failures in a row, or a fall of quality or speed ──> open
      ^                                                                  │ after a rest, longer each time
      └──── three tries in a row went well ──── half open <──────────────┘
                                                    └─── one failed ───> open

At no moment are more jobs at risk than failures are left: those in flight count as if they would fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from mien.service.records import Channel

BreakerState = Literal["closed", "open", "half_open"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a canary may do."""

    failures: int = 5
    """In a row; the last one opens the breaker."""
    window: int = 20
    """Latest outcomes of a channel that are compared."""
    least: int = 10
    """Outcomes of each channel below which nothing is compared."""
    slower: float = 1.5
    """Median seconds a frame over the stable channel's."""
    less_alike: float = 0.05
    """Median identity distance above the stable channel's."""
    more_flagged: float = 0.1
    """Median share of flagged frames above the stable channel's."""
    rest_s: float = 600.0
    """First rest; each one in a row is twice as long."""
    longest_rest_s: float = 86_400.0
    trials: int = 3
    """Jobs that must go well, one after the other, before the breaker closes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one job went."""

    ok: bool
    why: str = ""
    """What went wrong."""
    seconds_per_frame: float | None = None
    distance: float | None = None
    """Identity distance of result to source."""
    flagged: float | None = None
    """Share of frames that were flagged."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """What is known of one canary."""

    state: BreakerState = "closed"
    failures: int = 0
    """In a row."""
    trials: int = 0
    """That went well since it is half open."""
    rests: int = 0
    """In a row."""
    why: str = ""
    """Why it opened last; kept when it closes."""
    since_s: float = 0.0
    """When it came into this state, Unix time."""
    stable: tuple[Outcome, ...] = ()
    """Latest successes on the stable channel."""
    canary: tuple[Outcome, ...] = ()


def may_try(breaker: Breaker, in_flight: int, now_s: float, bounds: Bounds) -> tuple[Breaker, bool]:
    """Whether one more job may run with the canary, of which `in_flight` do already."""
    if breaker.state == "open":
        if now_s < breaker.since_s + rest_s(breaker.rests, bounds):
            return breaker, False
        breaker = replace(breaker, state="half_open", trials=0, since_s=now_s)
    if breaker.state == "half_open":
        return breaker, in_flight == 0
    return breaker, breaker.failures + in_flight < bounds.failures


def rest_s(rests: int, bounds: Bounds) -> float:
    """How long a breaker stays open the so-manieth time in a row, counted from 1."""
    return min(bounds.rest_s * 2 ** (max(rests, 1) - 1), bounds.longest_rest_s)


def after(breaker: Breaker, channel: Channel, outcome: Outcome, now_s: float, bounds: Bounds) -> Breaker:
    """What is known once a job has ended."""
    if channel == "stable":
        return replace(breaker, stable=_latest(breaker.stable, outcome, bounds)) if outcome.ok else breaker
    if not outcome.ok:
        return _after_failure(breaker, outcome, now_s, bounds)
    breaker = replace(breaker, failures=0, canary=_latest(breaker.canary, outcome, bounds))
    if fall := fallen(breaker.stable, breaker.canary, bounds):
        return opened(breaker, fall, now_s)
    if breaker.state == "half_open":
        breaker = replace(breaker, trials=breaker.trials + 1)
        if breaker.trials >= bounds.trials:
            return replace(breaker, state="closed", rests=0, since_s=now_s)
    return breaker


def opened(breaker: Breaker, why: str, now_s: float) -> Breaker:
    """It opens; what was measured before says nothing about what comes after."""
    if breaker.state == "open":
        return breaker
    return replace(breaker, state="open", why=why, since_s=now_s, rests=breaker.rests + 1, failures=0, canary=())


def fallen(stable: Sequence[Outcome], canary: Sequence[Outcome], bounds: Bounds) -> str | None:
    """In which way the canary is worse than what it is to replace, if it is."""
    if min(len(stable), len(canary)) < bounds.least:
        return None
    seconds, usual_seconds = _median(canary, "seconds_per_frame"), _median(stable, "seconds_per_frame")
    if seconds is not None and usual_seconds and seconds > bounds.slower * usual_seconds:
        return f"{seconds:.3f} s a frame, where the stable models take {usual_seconds:.3f} s"
    for name, words, bound in (
        ("distance", "identity distance", bounds.less_alike),
        ("flagged", "share of flagged frames", bounds.more_flagged),
    ):
        value, usual = _median(canary, name), _median(stable, name)
        if value is not None and usual is not None and value > usual + bound:
            return f"{words} {value:.2f}, where the stable models have {usual:.2f}"
    return None


def _after_failure(breaker: Breaker, outcome: Outcome, now_s: float, bounds: Bounds) -> Breaker:
    failures = breaker.failures + 1
    if breaker.state == "half_open":
        return opened(breaker, f"failed when tried again: {outcome.why}", now_s)
    if failures >= bounds.failures:
        return opened(breaker, f"{failures} failures in a row, the last: {outcome.why}", now_s)
    return replace(breaker, failures=failures)


def _latest(outcomes: tuple[Outcome, ...], outcome: Outcome, bounds: Bounds) -> tuple[Outcome, ...]:
    return (*outcomes, outcome)[-bounds.window :]


def _median(outcomes: Sequence[Outcome], name: str) -> float | None:
    values = [value for outcome in outcomes if (value := getattr(outcome, name)) is not None]
    return median(values) if values else None
