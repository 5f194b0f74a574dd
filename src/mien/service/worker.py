"""A worker: takes tasks of one tier, runs several side by side with the same networks, and goes without losing any."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from mien.pipeline.api import Runner
from mien.service.bell import Bell
from mien.service.decoding import Bounds
from mien.service.dispatch import choose, share
from mien.service.figures import of_networks
from mien.service.housekeeping import keep_house
from mien.service.leases import Leases
from mien.service.library import FORGET
from mien.service.queue import make_worker
from mien.service.records import TierName, WorkerId, new_id
from mien.service.running import Running
from mien.service.state import Grant, State
from mien.service.storage import Storage
from mien.service.tiers import TIERS
from mien.service.workspace import Workspace


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How a worker works."""

    scratch: Path
    """Where it may keep files while it works."""
    tiers: tuple[TierName, ...] = ("batch",)
    """Whose jobs it does; those of the first one come first."""
    slots: int = 2
    """Tasks that run side by side."""
    lease_s: float = 30.0
    """Without a word for so long its tasks are given to others."""
    grace_s: float = 30.0
    """How long tasks may go on when it is told to stop, before they are handed back."""
    bounds: Bounds = field(default_factory=Bounds)
    device: str = "auto"
    """Where networks are loaded before the first job comes."""
    precision: str = "auto"


class Worker:
    """Runs from `with` to the end of the block. `stop` inside the block ends it early."""

    def __init__(self, state: State, storage: Storage, settings: WorkerSettings) -> None:
        self.id = WorkerId(new_id("worker"))
        self._state = state
        self._storage = storage
        self._settings = settings
        self._stopping = threading.Event()
        """Tries are to end now."""
        self._desk = Taking(state, self.id, settings)
        self._open = ExitStack()
        self._ready = False

    def __enter__(self) -> Self:
        settings = self._settings
        with ExitStack() as stack:
            space = stack.enter_context(Workspace(settings.scratch, self.id, self._storage))
            runner = stack.enter_context(Runner())
            stack.callback(self._state.sign_off, self.id)
            leases = Leases(self._state, settings.lease_s, each_beat=self._each_beat)
            self._running = running = Running(self._state, space, leases, runner, settings.bounds, self._stopping)
            stack.enter_context(leases)
            work = {f"work:{tier}": self._desk.ring for tier in settings.tiers}
            hear = {**work, "stopped": leases.stop, FORGET: running.forget}
            stack.enter_context(Bell(self._state, hear))
            runner.workshop(settings.device, settings.precision).analyser.warm()
            self._ready = True
            self._workers = make_worker(self._desk, self._run_all, settings.slots)
            self._workers.start()
            stack.callback(self._finish)
            self._open = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def _run_all(self, grants: Sequence[Grant]) -> None:
        if len(grants) == 1:
            self._run(grants[0])
            return
        with ThreadPoolExecutor(len(grants), "mien-together") as pool:
            list(pool.map(self._run, grants))

    def _run(self, grant: Grant) -> None:
        try:
            self._running.run(grant)
        finally:
            self._desk.done(grant)

    def _finish(self) -> None:
        """Take nothing more; let tries end by themselves for the time of grace, then hand them back."""
        self._desk.close()
        timer = threading.Timer(self._settings.grace_s, self._stopping.set)
        timer.start()
        self._workers.stop()
        timer.cancel()

    def _each_beat(self) -> None:
        settings = self._settings
        about = {
            "tier": settings.tiers[0],
            "tiers": settings.tiers,
            "slots": settings.slots,
            "ready": self._ready,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "running_tasks": self._desk.running,
            **of_networks(self._running.workshops),
        }
        self._state.sign_on(self.id, about, lease_s=settings.lease_s)
        keep_house(self._state, self._storage, settings.lease_s)


class Taking:
    """Where the worker's tasks come from: what the policy says is next.

    A task whose last worker was lost may be what killed it: it runs alone, so that nothing else is lost with it again.
    """

    def __init__(self, state: State, worker: WorkerId, settings: WorkerSettings) -> None:
        self._state = state
        self._worker = worker
        self._settings = settings
        self._rung = threading.Event()
        self._closed = False
        self._lock = threading.Lock()
        self._running: set[Grant] = set()

    def take(self) -> Sequence[Grant]:
        """Tasks for one slot, to be run together."""
        for tier in self._settings.tiers:
            waiting = sum(head.waiting for head in self._state.heads(tier)) - 1
            if (first := self._claim(tier)) is not None:
                most = 1 if first.suspect else share(waiting, self._settings.slots, TIERS[tier].together)
                return [first, *self._more_pictures(tier, most - 1)] if first.kind == "picture" else [first]
        return ()

    def _more_pictures(self, tier: TierName, most: int) -> Iterator[Grant]:
        for _ in range(most):
            if (grant := self._claim(tier, "picture")) is None:
                return
            yield grant

    def _claim(self, tier: TierName, kind: str = "") -> Grant | None:
        lease_s = self._settings.lease_s
        while not self._closed and (head := choose(self._state.heads(tier))) is not None:
            with self._lock:
                is_alone, is_kept_alone = not self._running, any(grant.suspect for grant in self._running)
            if is_kept_alone or (head.suspect and not is_alone):
                return None
            grant = self._state.claim(tier, head, self._worker, lease_s=lease_s, kind=kind, suspects=is_alone)
            if grant is not None:
                with self._lock:
                    self._running.add(grant)
            if grant is not None or kind:
                return grant
        return None

    @property
    def running(self) -> int:
        """How many tasks the worker has."""
        with self._lock:
            return len(self._running)

    def done(self, grant: Grant) -> None:
        """A task no longer runs here."""
        with self._lock:
            self._running.discard(grant)
        self._rung.set()

    def wait(self, timeout_s: float) -> None:
        """Wait until there may be something to take."""
        self._rung.wait(timeout_s)
        self._rung.clear()

    def ring(self, _name: str) -> None:
        """There may be something to take."""
        self._rung.set()

    def give_back(self, grants: Sequence[Grant]) -> None:
        """Tasks that were taken and not begun."""
        for grant in grants:
            self._state.hand_back(grant)
            self.done(grant)

    def close(self) -> None:
        """Take nothing more."""
        self._closed = True
        self._rung.set()
