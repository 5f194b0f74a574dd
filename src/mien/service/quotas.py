"""How fast and how much: rate limits and quotas as pure policy. What is counted lies in Redis; see `usage`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mien.service.keys import Limits
from mien.service.problems import refuse

_DAY_S = 86_400
SLACK_S = 1e-5
"""Moments are kept to a microsecond, and sums of fractions differ from their products by rounding."""
PICTURE_S = 1.0
"""What a picture counts as against the minutes of a day."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Answer of the rate limit to one call."""

    allowed: bool
    next_free_s: float
    """The state to keep: the moment at which the calls so far are paid off."""
    retry_after_s: float
    """How long to wait before the next try; 0 if it was allowed."""
    remaining: int
    """Calls that would be allowed right now."""


def take_turn(next_free_s: float, now_s: float, limits: Limits) -> Turn:
    """The generic cell rate algorithm (ITU-T I.371): a call costs 1/rate seconds; `burst` calls may be owed.

    Args:
        next_free_s: what the call before left; 0 at first.
        now_s: any clock in seconds.
        limits: of the key.
    """
    if limits.requests_per_minute == 0 or limits.burst == 0:
        return Turn(False, next_free_s, _DAY_S, 0)
    cost_s = 60.0 / limits.requests_per_minute
    due_s = max(next_free_s, now_s) + cost_s
    wait_s = due_s - now_s - limits.burst * cost_s
    if wait_s > SLACK_S:
        return Turn(False, next_free_s, wait_s, 0)
    return Turn(True, due_s, 0.0, max(int((SLACK_S - wait_s) / cost_s), 0))


def day_of(now_s: float) -> int:
    """Number of the day (UTC) that a Unix time lies in."""
    return int(now_s // _DAY_S)


def seconds_to_tomorrow(now_s: float) -> int:
    """Whole seconds until the next day (UTC) has begun."""
    return math.ceil((day_of(now_s) + 1) * _DAY_S - now_s)


def check_flight(jobs: int, limits: Limits) -> None:
    """Refuse a job where `jobs`, with it, are too many at once.

    Raises:
        Problem: quota.
    """
    if jobs > limits.jobs_in_flight:
        refuse(
            "quota",
            f"{jobs - 1} jobs of this key are waiting or running and its limit is {limits.jobs_in_flight}: "
            "wait until one ends, or cancel one",
            limit="jobs_in_flight",
            retry_after_s=10,
        )


def check_minutes(minutes: float, limits: Limits, now_s: float) -> None:
    """Refuse a job where `minutes` are those of the day with it.

    Raises:
        Problem: quota.
    """
    if minutes > limits.minutes_per_day:
        refuse(
            "quota",
            f"with this job the key would have {minutes:.1f} media minutes today and its limit is "
            f"{limits.minutes_per_day:g}: take a part of the clip ('start', 'end'), or wait until tomorrow (UTC)",
            limit="minutes_per_day",
            retry_after_s=seconds_to_tomorrow(now_s),
        )


def check_stored(stored_bytes: int, limits: Limits) -> None:
    """Refuse an upload where `stored_bytes` would lie in storage with it.

    Raises:
        Problem: over_limit.
    """
    if stored_bytes > limits.stored_bytes:
        refuse(
            "over_limit",
            f"with this upload {stored_bytes} bytes of this key would be stored and its limit is "
            f"{limits.stored_bytes}: delete assets that are no longer needed",
            limit="stored_bytes",
        )


def check_upload(upload_bytes: int, limits: Limits) -> None:
    """Refuse an upload that is too large by itself.

    Raises:
        Problem: too_large.
    """
    if upload_bytes > limits.upload_bytes:
        refuse(
            "too_large",
            f"an upload of this key may have {limits.upload_bytes} bytes: send a shorter or more compressed file",
            limit="upload_bytes",
        )


def check_cost(cost: float | None, limits: Limits) -> None:
    """Refuse a job that would cost too much.

    Raises:
        Problem: over_limit.
    """
    if cost is not None and limits.cost_per_job is not None and cost > limits.cost_per_job:
        refuse(
            "over_limit",
            f"the job would cost about {cost:.4f} and this key's limit is {limits.cost_per_job:g} a job: take a part "
            "of the clip ('start', 'end'), a smaller 'upscale', or no 'restorer'",
            limit="cost_per_job",
        )
