"""Which frame of one clip is seen together with which of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

_SLACK_S = 0.001
"""Times of one moment differ this much between containers (Matroska counts milliseconds)."""


class Timed(Protocol):
    """Something that is shown from a moment on."""

    @property
    def time_s(self) -> float:
        """Seconds from the start."""
        ...


T = TypeVar("T", bound=Timed)


def pair(before: Iterable[T], after: Iterable[T], before_end_s: float) -> Iterator[tuple[T, T]]:
    """Every frame of `after` with the frame of `before` that is seen at its time, up to the end of the shorter one.

    Args:
        before: in order of time.
        after: in order of time.
        before_end_s: when the last frame of `before` is no longer shown.
    """
    shown = _with_ends(before, before_end_s)
    current = next(shown, None)
    for frame in after:
        while current and current[1] <= frame.time_s + _SLACK_S:
            current = next(shown, None)
        if current is None:
            return
        yield current[0], frame


def _with_ends(frames: Iterable[T], end_s: float) -> Iterator[tuple[T, float]]:
    """Each frame with the time at which the next one replaces it."""
    remaining = iter(frames)
    current = next(remaining, None)
    for following in remaining:
        if current is not None:
            yield current, following.time_s
        current = following
    if current is not None:
        yield current, end_s
