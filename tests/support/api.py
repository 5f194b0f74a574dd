"""A service's API for tests: a real server on loopback, real Valkey behind it, and callers with keys."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from mien.service.api.front import Front, open_front
from mien.service.api.server import ApiServer
from mien.service.folder import FolderStorage
from mien.service.inspection.process import Bounds, Inspector
from mien.service.keys import ApiKey, Minted, mint
from mien.service.records import FlaggedFrame, JobId, Result, WorkerId, new_id
from mien.service.settings import Settings
from mien.service.state import Grant, State
from mien.service.storage import Storage
from support.people import STILLS

PORTRAIT = STILLS / "astronaut.png"
STREET = STILLS / "grace_hopper.jpg"
LEASE_S = 60.0


@dataclass
class Caller:
    """Somebody with a key."""

    minted: Minted
    http: httpx.Client
    made: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> ApiKey:
        return self.minted.key

    def upload(self, path: Path, name: str = "file") -> dict[str, Any]:
        response = self.http.post("/v1/assets", params={"name": name}, content=path.read_bytes())
        assert response.status_code == 201, response.text
        return response.json()

    def picture_recipe(self) -> dict[str, Any]:
        """A job on the stills, which are uploaded once."""
        for name, path in (("source", PORTRAIT), ("target", STREET)):
            if name not in self.made:
                self.made[name] = self.upload(path, path.name)["id"]
        return {"recipe": {"sources": [self.made["source"]], "target": self.made["target"]}}

    def job(self, **more: Any) -> dict[str, Any]:
        response = self.http.post("/v1/jobs", json={**self.picture_recipe(), **more})
        assert response.status_code == 201, response.text
        return response.json()


@dataclass
class Api:
    """A running API."""

    front: Front
    url: str
    callers: list[Caller] = field(default_factory=list)

    def caller(self, tenant: str | None = None, **options: Any) -> Caller:
        """Somebody new, with a tenant of their own unless one is named."""
        minted = mint(tenant or new_id("worker").lower().replace("_", "-"), now_s=time.time(), **options)
        self.front.keyring.add(minted.key)
        http = httpx.Client(base_url=self.url, headers=bearer(minted.token), timeout=60)
        self.callers.append(Caller(minted, http))
        return self.callers[-1]

    def take(self, job: str) -> Grant:
        """Begin a job as a worker does."""
        state = self.front.state
        for head in state.heads("batch"):
            while (grant := state.claim("batch", head, WorkerId("tester"), lease_s=LEASE_S)) is not None:
                if grant.job == job:
                    return grant
        raise AssertionError(f"{job} does not wait")

    def finish(
        self, job: str, content: bytes, flagged: dict[int, bytes] | None = None, name: str = "result.jpg"
    ) -> None:
        """End a job as a worker does, with this result and these thumbnails."""
        grant = self.take(job)
        folder = self.front.library.folder
        keys: dict[int | None, str] = {}
        for frame, data in {None: content, **(flagged or {})}.items():
            path = folder / new_id("asset")
            path.write_bytes(data)
            keys[frame] = f"{grant.folder}{'result' if frame is None else frame}"
            self.front.storage.put(path, keys[frame])
            path.unlink()
        result = Result(keys[None], name, len(content), "image/jpeg", {"frames": 1})
        flags = [FlaggedFrame(frame, frame / 25, "test", keys[frame]) for frame in flagged or {}]
        assert self.front.state.complete(grant, result, frames=1, busy_s=1.0, flagged=flags)

    def fail(self, job: str, kind: str, message: str) -> None:
        """End a job as a worker does that cannot do it."""
        from mien.service.records import Failure

        self.front.state.fail(self.take(job), Failure(kind, message), "refused", busy_s=1.0)

    def events_of(self, job: str) -> list[Any]:
        return self.front.state.events(JobId(job))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def served(
    folder: Path, queue: str, inspector: Inspector, storage: Storage | None = None, **settings: Any
) -> Generator[Api]:
    """An API, with a folder as storage unless there is another."""
    state = State.at(queue)
    found = Settings(data=folder / "data", webhook_hosts=("127.0.0.1",), price_per_hour=1.0, **settings)
    front = open_front(found, state, storage or FolderStorage(folder / "storage"), inspector)
    with ApiServer(front) as server:
        api = Api(front, server.url)
        yield api
        for caller in api.callers:
            caller.http.close()
    state.client.close()


def bounds() -> Bounds:
    """As the service's own, with pictures of at most 20 megapixels, so that bombs can be small."""
    return Bounds(seconds=30, max_pixels=20_000_000)
