"""A queue, a storage and workers in processes of their own, for tests of the service."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mien.service.dispatch import choose
from mien.service.folder import FolderStorage
from mien.service.records import Asset, AssetId, Job, JobId, TenantId, WorkerId, new_id
from mien.service.state import Grant, State
from mien.service.valkey import EmbeddedValkey

ACME = TenantId("acme")
PATIENCE_S = 120.0
"""The most that a test waits for anything; on any machine it is a matter of seconds."""


class Place:
    """A queue's server and a storage."""

    def __init__(self, root: Path, valkey: EmbeddedValkey) -> None:
        self.root = root
        self.valkey = valkey
        self.state = State.at(valkey.url)
        self.storage = FolderStorage(root / "storage")

    def upload(self, path: str | Path, tenant: TenantId = ACME) -> str:
        """Store a file; gives its name in a recipe."""
        path = Path(path)
        asset = AssetId(new_id("asset"))
        key = f"assets/{tenant}/{asset}"
        self.storage.put(path, key)
        content = path.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        self.state.add_asset(Asset(asset, tenant, path.name, key, len(content), sha256, "", time.time()))
        return f"asset:{asset}"

    def submit(self, recipe: dict[str, Any], tenant: TenantId = ACME, **fields: Any) -> JobId:
        """Put a job into the queue."""
        job = Job(JobId(new_id("job")), tenant, recipe, **fields)
        assert self.state.create(job)
        return job.id

    def job(self, job: JobId) -> Job:
        found = self.state.job(job)
        assert found is not None
        return found

    def take(self, lease_s: float = 60.0) -> Grant:
        """Take what is next, as a worker does."""
        head = choose(self.state.heads("batch"))
        assert head is not None
        grant = self.state.claim("batch", head, WorkerId("w"), lease_s=lease_s)
        assert grant is not None
        return grant

    def wait(self, jobs: Iterable[JobId], until: Callable[[Job], bool] = lambda job: job.ended) -> list[Job]:
        """Follow the jobs' events until each is as it should be."""
        found: list[Job] = []
        deadline = time.monotonic() + PATIENCE_S
        for name in jobs:
            last = "0"
            while not until(job := self.job(name)):
                assert time.monotonic() < deadline, f"{job} is still not as it should be"
                for event in self.state.events(name, last, wait_s=1.0):
                    last = event.id
            found.append(job)
        return found

    def result(self, job: Job, path: Path) -> Path:
        """Fetch what a job made."""
        assert job.result is not None, job.error
        path.write_bytes(b"".join(self.storage.read(job.result.key)))
        return path

    def left(self) -> set[str]:
        """Keys in storage that belong to jobs."""
        return {stored.key for stored in self.storage.list("jobs/")}

    def start_worker(self, *options: str) -> WorkerProcess:
        command = ["--queue", self.valkey.url, "--storage", str(self.storage.root)]
        return WorkerProcess([*command, "--scratch", str(self.root / "scratch"), *options])


class WorkerProcess:
    """`mien worker`, ready when made."""

    def __init__(self, options: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mien", "worker", *options], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if "takes" not in line:
            self.kill()
            raise AssertionError(f"the worker did not start: {line}")
        self.name = line.split()[0]

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.send(signal.SIGKILL)
        self.ended()

    def stop(self) -> int:
        self.send(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        code = self._process.wait(PATIENCE_S)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code


@contextmanager
def working(place: Place, count: int = 1, *options: str) -> Iterator[list[WorkerProcess]]:
    """Workers, killed in the end."""
    workers = [place.start_worker(*options) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
