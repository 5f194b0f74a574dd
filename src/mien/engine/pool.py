"""The networks of a process for all its jobs: each loaded once, under one budget, behind one batcher."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType

from mien.engine.batcher import DEFAULT_BUCKETS, Batcher, BatchFigures, JobSession
from mien.engine.leased import LeasedSession
from mien.engine.residency import Residency
from mien.engine.session import Session


class Pool:
    """Gives jobs their sessions. Safe to use from several threads; a context manager."""

    def __init__(self, residency: Residency[Session], *, runners: int = 1) -> None:
        """Load nothing yet.

        Args:
            residency: Holds the networks under its budget.
            runners: Batches of one network that may run side by side: as many as its sessions have streams.
        """
        self._residency = residency
        self._runners = runners
        self._batchers: dict[str, Batcher] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def session(
        self,
        job: str,
        key: str,
        loader: Callable[[], Session],
        *,
        expected_bytes: int = 0,
        buckets: Sequence[int] = DEFAULT_BUCKETS,
    ) -> JobSession:
        """A network for one job: loaded at its first run, its usage the job's own.

        Args:
            job: Whose it is.
            key: The same key is the same network: of several loaders and buckets the first counts.
            loader: Makes the session, run once.
            expected_bytes: What it will probably hold; counts until it has been measured.
            buckets: Batch sizes; (1,) for a network that gains nothing from batches.
        """
        with self._lock:
            if key not in self._batchers:
                leased = LeasedSession(self._residency, key, loader, expected_bytes=expected_bytes)
                self._batchers[key] = Batcher(leased, buckets=buckets, runners=self._runners)
            return self._batchers[key].session(job)

    @property
    def residency(self) -> Residency[Session]:
        """What holds the networks."""
        return self._residency

    @property
    def figures(self) -> dict[str, BatchFigures]:
        """What each network's batcher has done so far."""
        with self._lock:
            return {key: batcher.figures for key, batcher in self._batchers.items()}

    def cancel(self, job: str) -> None:
        """Take the requests of a job out of every queue."""
        with self._lock:
            batchers = list(self._batchers.values())
        for batcher in batchers:
            batcher.cancel(job)

    def close(self) -> None:
        """Run what waits, refuse the rest, and let the networks go. Closing twice does no harm."""
        with self._lock:
            batchers = list(self._batchers.values())
        for batcher in batchers:
            batcher.close()
        self._residency.clear()
