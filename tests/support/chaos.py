"""Jobs of all kinds while workers are killed and stopped and the queue's server is restarted, against a quiet run."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mien.pipeline.api import Runner
from mien.recipe import Recipe
from mien.service.records import Job, JobId, TenantId
from support.jobs import ASTRONAUT, HOPPER, packets, rgb, video_frames
from support.service import PATIENCE_S, Place, WorkerProcess

LEASE_S = 2.0
_LOOK_EVERY_S = 0.05
TENANTS = (TenantId("acme"), TenantId("bright"), TenantId("corona"))


@dataclass(frozen=True)
class Kind:
    """Jobs that are alike."""

    name: str
    kind: str
    target: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def output(self) -> str:
        return f"out{Path(self.target).suffix}"


def kinds(talking: Path) -> list[Kind]:
    """A picture, a short clip in one segment, and a longer one in three."""
    return [
        Kind("picture", "picture", HOPPER),
        Kind("short", "video", str(talking), {"end": "00:00:01"}),
        Kind("long", "video", str(talking), {"segment_seconds": 1.0}),
    ]


def quiet_run(kinds: Sequence[Kind], folder: Path) -> dict[str, Path]:
    """The result of each kind, made by a single process that nobody disturbs."""
    results: dict[str, Path] = {}
    with Runner() as runner:
        for kind in kinds:
            results[kind.name] = folder / f"{kind.name}-{kind.output}"
            fields = {"sources": [ASTRONAUT], "target": kind.target, "output": str(results[kind.name]), **kind.options}
            runner.run(Recipe.from_mapping(fields))
    return results


@dataclass
class Chaos:
    """A crowd of jobs on workers that are not left in peace."""

    place: Place
    kinds: Sequence[Kind]
    random: random.Random
    tell: Callable[[str], None] = lambda _text: None
    workers: list[WorkerProcess] = field(default_factory=list)
    jobs: dict[JobId, Kind] = field(default_factory=dict)
    troubles: Counter[str] = field(default_factory=Counter)

    def submit(self, counts: dict[str, int]) -> None:
        """Queue so many jobs of each kind, of several tenants, mixed."""
        wanted = [kind for kind in self.kinds for _ in range(counts[kind.name])]
        self.random.shuffle(wanted)
        uploads = {(tenant, name): self.place.upload(name, tenant) for tenant in TENANTS for name in self._files()}
        for number, kind in enumerate(wanted):
            tenant = TENANTS[number % len(TENANTS)]
            recipe = {
                "sources": [uploads[tenant, ASTRONAUT]],
                "target": uploads[tenant, kind.target],
                "output": kind.output,
                **kind.options,
            }
            job = self.place.submit(recipe, tenant, kind=kind.kind, max_attempts=20)
            self.jobs[job] = kind

    def start_worker(self) -> None:
        self.workers.append(self.place.start_worker("--lease", str(LEASE_S)))

    def run(self, plan: Sequence[tuple[int, str]], patience_s: float = PATIENCE_S) -> list[Job]:
        """Make trouble of each kind when so many jobs have ended, and wait for all jobs.

        Args:
            plan: number of ended jobs and `kill`, `stop` or `restart`, ascending.
            patience_s: the most that may pass between two jobs' ends.
        """
        for ended, trouble in plan:
            self._wait_for(ended, patience_s)
            self.troubles[trouble] += 1
            self.tell(f"{ended} jobs have ended: {trouble}")
            {"kill": self._kill, "stop": self._stop, "restart": self.place.valkey.restart}[trouble]()
        self._wait_for(len(self.jobs), patience_s)
        return [self.place.job(job) for job in self.jobs]

    def wait_until_swept(self) -> None:
        """Wait until workers have cleared what nobody needs."""
        self._until(lambda: self.place.state.client.zcard(self.place.state.key("sweeps")) == 0, PATIENCE_S)

    def end(self) -> None:
        for worker in self.workers:
            worker.kill()

    def _files(self) -> set[str]:
        return {ASTRONAUT, *(kind.target for kind in self.kinds)}

    def _wait_for(self, ended: int, patience_s: float) -> None:
        for reached in range(ended):
            self._until(lambda reached=reached: self._ended() > reached, patience_s)

    def _ended(self) -> int:
        return len(self.jobs) - sum(self.place.state.open_jobs(tenant) for tenant in TENANTS)

    def _kill(self) -> None:
        """SIGKILL somebody, and start somebody else."""
        victim = self.workers.pop(self.random.randrange(len(self.workers)))
        victim.kill()
        self.start_worker()

    def _stop(self) -> None:
        """SIGSTOP somebody at work until others have the work, then let it go on."""
        victim: list[WorkerProcess] = []
        self._until(lambda: bool(victim or victim.extend(w for w in self.workers if self._holds(w))), PATIENCE_S)
        victim[0].send(signal.SIGSTOP)
        try:
            self._until(lambda: not self._holds(victim[0]), PATIENCE_S)
        finally:
            victim[0].send(signal.SIGCONT)

    def _holds(self, worker: WorkerProcess) -> bool:
        """Whether a worker has a lease."""
        state = self.place.state
        leases: Any = state.client.zrange(state.key("leases"), 0, -1)
        return any(state.client.hget(state.key("task", member), "worker") == worker.name for member in leases)

    def _until(self, holds: Callable[[], bool], patience_s: float) -> None:
        deadline = time.monotonic() + patience_s
        while not holds():
            assert time.monotonic() < deadline, "nothing happens any more"
            time.sleep(_LOOK_EVERY_S)


def differences(chaos: Chaos, jobs: Sequence[Job], quiet: dict[str, Path], folder: Path) -> list[str]:
    """What is not as after a quiet run."""
    found: list[str] = []
    for job in jobs:
        kind = chaos.jobs[job.id]
        published = [event for event in all_events(chaos.place, job.id) if event == ("state", "done")]
        if job.state != "done":
            found.append(f"{kind.name} {job.id}: {job.state} {job.error}")
        elif len(published) != 1:
            found.append(f"{kind.name} {job.id}: published {len(published)} times")
        elif not same(chaos.place.result(job, folder / f"{job.id}-{kind.output}"), quiet[kind.name]):
            found.append(f"{kind.name} {job.id}: other frames or sound")
    belongs = {job.result.key for job in jobs if job.result}
    belongs |= {flag.thumbnail for job in jobs for flag in job.flagged if flag.thumbnail}
    return found + [f"left in storage: {key}" for key in sorted(chaos.place.left() ^ belongs)]


def all_events(place: Place, job: JobId) -> list[tuple[str, str]]:
    """Kind and state of everything that happened to a job."""
    return [(event.kind, str(event.data.get("state"))) for event in place.state.events(job, count=100_000)]


def same(result: Path, quiet: Path) -> bool:
    """Whether all decoded frames and all packets of sound are equal."""
    if result.suffix == ".mp4":
        return _equal(video_frames(result), video_frames(quiet)) and _sound(result) == _sound(quiet)
    return _equal([rgb(result)], [rgb(quiet)])


def _equal(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> bool:
    return len(one) == len(other) and all(np.array_equal(*pair) for pair in zip(one, other, strict=True))


def _sound(path: Path) -> list[tuple[int, int | None, int | None, bytes]]:
    return [packet for packet in packets(path) if packet[0] == 1]
