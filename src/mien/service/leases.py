"""The tries that a worker holds: kept alive by beats, told when they no longer count."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from mien.errors import JobError
from mien.service.state import Beat, Grant, State

_BEATS_A_LEASE = 4
_LONGEST_PAUSE_S = 1.0
_LOG = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Held:
    """A try in work."""

    grant: Grant
    frames_done: int = 0
    stage: str = ""
    _lost: threading.Event = field(default_factory=threading.Event)

    @property
    def lost(self) -> bool:
        """Whether the try no longer counts: its job was cancelled, or somebody else has the task."""
        return self._lost.is_set()

    def lose(self) -> None:
        """Say that it no longer counts."""
        self._lost.set()


class Leases:
    """Beats for all tries of a worker from one thread. A context manager."""

    def __init__(self, state: State, lease_s: float, *, each_beat: Callable[[], None]) -> None:
        """Set up; nothing is started.

        Args:
            state: where beats go.
            lease_s: without a beat for so long a try is lost.
            each_beat: done after each beat, on the same thread.
        """
        self._state = state
        self.lease_s = lease_s
        self._each_beat = each_beat
        self._held: set[Held] = set()
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mien-leases", daemon=True)

    @contextmanager
    def hold(self, grant: Grant) -> Generator[Held]:
        """Keep a try alive while the block runs."""
        held = Held(grant)
        with self._lock:
            self._held.add(held)
        try:
            yield held
        finally:
            with self._lock:
                self._held.discard(held)

    def stop(self, job: str) -> None:
        """A job has ended or starts anew: whoever works on it is to stop."""
        for held in self._all():
            if held.grant.job == job:
                held.lose()

    def beat(self) -> None:
        """Say that all tries are alive, and take note of those that no longer count."""
        all_held = self._all()
        beats = [Beat(held.grant, held.frames_done, held.stage) for held in all_held]
        for held, counts in zip(all_held, self._state.beat(beats, lease_s=self.lease_s), strict=True):
            if not counts:
                held.lose()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ending.set()
        self._thread.join()

    def _all(self) -> list[Held]:
        with self._lock:
            return list(self._held)

    def _run(self) -> None:
        while not self._ending.wait(min(self.lease_s / _BEATS_A_LEASE, _LONGEST_PAUSE_S)):
            try:
                self.beat()
                self._each_beat()
            except JobError as error:
                _LOG.warning("%s", error)  # Tried again with the next beat: until then the leases run on.
            except Exception:
                # Without beats a worker would do all in vain: whatever this was, the next one comes.
                _LOG.exception("a beat went wrong")
