"""Sends webhooks when jobs end. What is still to be sent lies in Redis and outlives every process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import cast

import redis

from mien.errors import MienError
from mien.service.api.shown import show_job
from mien.service.records import Job, JobId
from mien.service.signing import webhook_secret
from mien.service.state import State
from mien.service.webhooks import Delivery, deliver, judge, make_body, wait_before

_LOG = logging.getLogger(__name__)

_TAKE = """
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1)[1]
if due then redis.call('ZADD', KEYS[1], ARGV[2], due) end
return due
"""
"""Takes one job that is due; nobody else does for a while."""
_LEASE_S = 60.0
_LOOK_AGAIN_S = 5.0
"""How often a job that has not ended is looked at, should the word of its end be missed."""
_LOOK_EVERY_S = 1.0


class Postman:
    """Expects the ends of jobs and sends word of them. Any number of processes may have one."""

    def __init__(
        self,
        state: State,
        secret: bytes,
        trusted_hosts: tuple[str, ...],
        count: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """Args:
        state: the jobs.
        secret: the installation's own.
        trusted_hosts: see `addresses.resolve`.
        count: is told the outcome of each try.
        clock: Unix time in seconds.
        """
        self._state = state
        self._secret = secret
        self._trusted_hosts = trusted_hosts
        self._count = count
        self._clock = clock
        self._due, self._tries = state.key("hooks"), state.key("hook-tries")
        self._called = threading.Event()
        self._take = state.client.register_script(_TAKE)

    def expect(self, job: JobId, url: str | None) -> None:
        """Send word when a job ends, if somebody wants it."""
        if url is not None:
            self._state.client.zadd(self._due, {job: self._clock()})

    def hear(self, job: str) -> None:
        """A job has stopped: look at it at once, if somebody waits for it."""
        self._state.client.zadd(self._due, {job: self._clock()}, xx=True)
        self._called.set()

    def run(self, stopped: threading.Event) -> None:
        """Work until told to stop."""
        while not stopped.is_set():
            self._called.clear()
            try:
                while self.work():
                    pass
            except (MienError, redis.RedisError) as error:
                _LOG.warning("webhooks wait: %s", error)
            self._called.wait(_LOOK_EVERY_S)

    def work(self) -> bool:
        """Look at one job that is due. False if there is none."""
        now_s = self._clock()
        name = cast("str | None", self._take(keys=[self._due], args=[now_s, now_s + _LEASE_S]))
        if name is None:
            return False
        job = self._state.job(JobId(name))
        if job is None or job.webhook is None:
            self._forget(name)
        elif job.ended:
            self._send(job, job.webhook)
        else:
            self._state.client.zadd(self._due, {name: now_s + _LOOK_AGAIN_S})
        return True

    def _send(self, job: Job, url: str) -> None:
        now_s = self._clock()
        number = f"{job.id}-{int((job.ended_s or 0) * 1000):x}"
        shown = show_job(job, (), now_s).model_dump(mode="json")
        body = make_body(number, f"job.{job.state}", shown, now_s)
        delivery = Delivery(number, url, body, webhook_secret(self._secret, job.tenant))
        tries = self._state.client.hincrby(self._tries, job.id, 1)
        verdict = judge(deliver(delivery, self._trusted_hosts, now_s), tries)
        self._count(verdict.replace(" ", "_"))
        if verdict == "again":
            self._state.client.zadd(self._due, {job.id: self._clock() + wait_before(tries)})
        else:
            self._forget(job.id)

    def _forget(self, name: str) -> None:
        with self._state.client.pipeline() as steps:
            steps.zrem(self._due, name)
            steps.hdel(self._tries, name)
            steps.execute()
