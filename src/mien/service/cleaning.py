"""What is deleted on request or has been kept long enough: results, thumbnails, uploads, and what lay half-way."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import redis

from mien.errors import MediaError, MienError
from mien.service.keyring import Keyring
from mien.service.library import Library
from mien.service.problems import Problem
from mien.service.records import JobId, TenantId
from mien.service.settings import Settings
from mien.service.state import State, job_folder
from mien.service.storage import Storage

_LOG = logging.getLogger(__name__)
_FORGOTTEN_S = 86_400.0
"""A file on its way that is older belongs to a process that is gone."""


@dataclass(frozen=True, slots=True)
class Cleaner:
    """Deletes. Safe to use from several threads and processes."""

    state: State
    storage: Storage
    library: Library
    keyring: Keyring
    settings: Settings

    def forget_job(self, job: JobId) -> None:
        """Stop a job if it runs, and remove all that is kept of it.

        A worker in the middle of it may still write: what it leaves goes when the state's sweeps come to it.

        Raises:
            UnwritableError: the storage does not let go of a file.
        """
        self.state.cancel(job)
        for stored in list(self.storage.list(job_folder(job))):
            self.storage.delete(stored.key)
        self.state.delete(job)

    def clean(self, now_s: float) -> tuple[int, int]:
        """Delete what has been kept long enough; the numbers of jobs and assets. What cannot be deleted is left for
        the next time."""
        jobs = assets = 0
        for tenant in self._tenants():
            for job in self._old_jobs(tenant, now_s):
                jobs += self._try(lambda job=job: self.forget_job(job))
            assets += self._clean_assets(tenant, now_s)
        self._clean_incoming(now_s)
        return jobs, assets

    def _tenants(self) -> list[TenantId]:
        return sorted({TenantId(key.tenant) for key in self.keyring.all()})

    def _old_jobs(self, tenant: TenantId, now_s: float) -> Iterator[JobId]:
        if self.settings.job_kept_s is None:
            return
        end_s = now_s - self.settings.job_kept_s
        # A job is not younger than its end: only those created before can have ended before.
        names = cast("list[str]", self.state.client.zrangebyscore(self.state.key("jobs", tenant), "-inf", end_s))
        for name in names:
            job = self.state.job(JobId(name))
            if job is not None and job.ended_s is not None and job.ended_s <= end_s:
                yield job.id

    def _clean_assets(self, tenant: TenantId, now_s: float) -> int:
        if self.settings.asset_kept_s is None:
            return 0
        count = 0
        for asset in self.state.assets(tenant):
            if asset.created_s > now_s - self.settings.asset_kept_s:
                break
            count += self._try(lambda asset=asset: self.library.delete(self.library.find(tenant, asset.id)))
        return count

    def _try(self, delete: Callable[[], None]) -> bool:
        """Whether something could be deleted. One that could not must not keep the others."""
        try:
            delete()
        except Problem:
            return False  # A job still uses it.
        except MediaError as error:
            _LOG.warning("what should be deleted stays for now: %s", error)
            return False
        return True

    def _clean_incoming(self, now_s: float) -> None:
        for path in self.library.folder.iterdir():
            if now_s - path.stat().st_mtime > _FORGOTTEN_S:
                _remove(path)


def keep_clean(cleaner: Cleaner, stopped: Callable[[float], bool], every_s: float) -> None:
    """Clean again and again until `stopped`, which waits so many seconds, says so."""
    while not stopped(every_s):
        try:
            cleaner.clean(time.time())
        except (MienError, OSError, redis.RedisError) as error:
            _LOG.warning("cleaning was broken off: %s", error)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
