"""What keys have used: calls, jobs in flight, minutes of the day and stored bytes, counted in Redis.

Every count is one that can be asked again: jobs and assets are kept by their ids, so that a repeated or forgotten
step never makes it drift.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from mien.service import quotas
from mien.service.keys import ApiKey, KeyId
from mien.service.problems import Problem, refuse
from mien.service.quotas import Turn

if TYPE_CHECKING:
    from mien.service.state import State

_TAKE_TURN = """
local cost, burst, now, slack = 60 / tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local next_free = tonumber(redis.call('GET', KEYS[1]) or '0')
local due = math.max(next_free, now) + cost
local wait = due - now - burst * cost
if wait > slack then return {0, tostring(next_free), tostring(wait), 0} end
redis.call('SET', KEYS[1], string.format('%.6f', due), 'PX', math.ceil((due - now) * 1000) + 1000)
return {1, tostring(due), '0', math.max(math.floor((slack - wait) / cost), 0)}
"""
"""`quotas.take_turn` where the state is, so that calls at the same moment do not share a turn."""

_TWO_DAYS_S = 172_800


class Usage:
    """The counts of all keys. Safe to use from several threads."""

    def __init__(self, state: State) -> None:
        self._redis = state.client
        self._state = state
        self._turn = self._redis.register_script(_TAKE_TURN)

    def take_turn(self, key: ApiKey, now_s: float) -> Turn:
        """Count a call.

        Raises:
            Problem: rate.
        """
        limits = key.limits
        if limits.requests_per_minute == 0 or limits.burst == 0:
            turn = quotas.take_turn(0, now_s, limits)
        else:
            arguments = [limits.requests_per_minute, limits.burst, f"{now_s:.6f}", quotas.SLACK_S]
            answer = cast("list[Any]", self._turn(keys=[self._name(key.id, "turn")], args=arguments))
            turn = Turn(bool(answer[0]), float(answer[1]), float(answer[2]), int(answer[3]))
        if not turn.allowed:
            wait_s = max(int(turn.retry_after_s + 0.999), 1)
            refuse(
                "rate",
                f"this key may make {limits.requests_per_minute} calls a minute: wait {wait_s} s",
                limit="requests_per_minute",
                retry_after_s=wait_s,
            )
        return turn

    def enter(self, key: ApiKey, job: str, ended: Callable[[str], bool]) -> None:
        """Count a job as in flight.

        Args:
            key: whose job.
            job: its id.
            ended: whether a job of the key is no longer in flight; asked only where there seem to be too many.

        Raises:
            Problem: quota.
        """
        name = self._name(key.id, "flight")
        self._redis.sadd(name, job)
        if self._redis.scard(name) <= key.limits.jobs_in_flight:
            return
        members = cast("set[str]", self._redis.smembers(name))
        if gone := [one for one in members if one != job and ended(one)]:
            self._redis.srem(name, *gone)
        try:
            quotas.check_flight(self._redis.scard(name), key.limits)
        except Problem:
            self._redis.srem(name, job)
            raise

    def leave(self, key_id: KeyId, job: str) -> None:
        """A job that was counted by `enter` was not accepted after all, or is gone."""
        self._redis.srem(self._name(key_id, "flight"), job)

    def take_minutes(self, key: ApiKey, media_seconds: float, now_s: float) -> None:
        """Count a job's media time against the day.

        Raises:
            Problem: quota.
        """
        minutes = max(media_seconds, quotas.PICTURE_S) / 60
        name = self._name(key.id, f"minutes:{quotas.day_of(now_s)}")
        total = self._redis.incrbyfloat(name, minutes)
        self._redis.expire(name, _TWO_DAYS_S)
        try:
            quotas.check_minutes(total, key.limits, now_s)
        except Problem:
            self._redis.incrbyfloat(name, -minutes)
            raise

    def store(self, key: ApiKey, asset: str, size_bytes: int) -> None:
        """Count an upload's bytes.

        Raises:
            Problem: over_limit.
        """
        name = self._name(key.id, "bytes")
        self._redis.hset(name, asset, str(size_bytes))
        try:
            quotas.check_stored(self.stored_bytes(key.id), key.limits)
        except Problem:
            self._redis.hdel(name, asset)
            raise

    def stored_bytes(self, key_id: KeyId) -> int:
        """Bytes of the uploads that were not released yet."""
        return sum(int(size) for size in cast("list[str]", self._redis.hvals(self._name(key_id, "bytes"))))

    def release(self, key_id: KeyId, asset: str) -> None:
        """An upload is gone."""
        self._redis.hdel(self._name(key_id, "bytes"), asset)

    def _name(self, key_id: KeyId, what: str) -> str:
        return self._state.key("use", key_id, what)
