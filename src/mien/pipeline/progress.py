"""How far a job is, how fast it goes and how long it will still take."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

_WINDOW_SECONDS = 5.0
"""The rate is that of the last seconds: long enough to be steady, short enough to follow the clip's changes."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One moment of a job."""

    stage: str
    """What is being done, in words a user reads."""
    done: int
    """Frames (or pictures) finished."""
    total: int
    """Frames there are in all; 0 while that is not known."""
    frames_per_second: float = 0.0
    """Rate of the last seconds; 0 while there is none."""
    seconds_left: float | None = None
    """Expected time to the end, None while there is no rate."""


ProgressCallback = Callable[[Progress], None]
"""Called from the thread that runs the job, about ten times a second at most."""


class Rate:
    """Frames per second over a sliding window. Pure arithmetic: the caller says what time it is."""

    def __init__(self, window_seconds: float = _WINDOW_SECONDS) -> None:
        self._window_seconds = window_seconds
        self._points: deque[tuple[float, int]] = deque()

    def update(self, now_s: float, done: int) -> float:
        """Note that `done` frames were finished at `now_s` and return the rate (0 until there are two moments)."""
        self._points.append((now_s, done))
        # One point older than the window stays, so that the window is always covered.
        while len(self._points) > 2 and self._points[1][0] <= now_s - self._window_seconds:
            self._points.popleft()
        (first_s, first_done), (last_s, last_done) = self._points[0], self._points[-1]
        return (last_done - first_done) / (last_s - first_s) if last_s > first_s else 0.0


class ProgressMeter:
    """Turns counts into `Progress` events."""

    def __init__(self, stage: str, total: int, *, already_done: int = 0) -> None:
        self._stage = stage
        self._total = total
        self._already_done = already_done
        self._rate = Rate()

    def at(self, now_s: float, done: int) -> Progress:
        """The event for `done` frames of this run at `now_s` (any clock in seconds)."""
        rate = self._rate.update(now_s, done)
        reached = self._already_done + done
        left = max(self._total - reached, 0) / rate if rate > 0 else None
        return Progress(self._stage, reached, self._total, rate, left)
