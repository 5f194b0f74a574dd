"""New networks for a share of the jobs: which job runs with which, and what came of it. All workers agree by Redis."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import redis
from redis.client import Pipeline

from mien.errors import JobError, UsageError
from mien.service.breaker import Bounds, Breaker, Outcome, after, may_try
from mien.service.records import Channel, Job, JobId
from mien.service.state import State

ROLES = ("swapper", "restorer", "upscaler", "occluder", "parser")
"""Networks that can be rolled out; each is the recipe's field of the same name."""
BOUNDS = Bounds()
_READ_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Rollout:
    """Of one role."""

    stable: str
    """What the recipe's field is where a job does not say, as `geometric` or the id of a network."""
    canary: str | None = None
    share: float = 0.0
    """Of the jobs, 0..1."""
    breaker: Breaker = field(default_factory=Breaker)
    in_flight: tuple[JobId, ...] = ()
    """Jobs that run with the canary."""


def bucket(role: str, job: JobId) -> float:
    """Where a job stands, 0..1: below the share it may run with the canary. The same for ever."""
    return int.from_bytes(hashlib.sha256(f"{role} {job}".encode()).digest()[:8]) / 2**64


class Rollouts:
    """Reads and changes all of them. Safe to use from several threads and processes."""

    def __init__(self, state: State, bounds: Bounds = BOUNDS) -> None:
        self._state = state
        self._bounds = bounds
        self._key = state.key("rollouts")

    def all(self) -> dict[str, Rollout]:
        """By role."""
        return _parse(cast(str | None, self._state.client.get(self._key)))

    def set(self, role: str, *, stable: str, canary: str | None, share: float) -> None:
        """Begin or change a rollout; what was seen of another canary is forgotten.

        Raises:
            UsageError: there is no such role, or the share is none.
        """
        if role not in ROLES:
            raise UsageError(f"unknown role '{role}': there is {', '.join(ROLES)}")
        if not 0 <= share <= 1:
            raise UsageError(f"share = {share}: give 0 to 1")

        def change(rollouts: dict[str, Rollout]) -> None:
            before = rollouts.get(role)
            if before is not None and (before.stable, before.canary) == (stable, canary):
                rollouts[role] = replace(before, share=share)
            else:
                rollouts[role] = Rollout(stable, canary, share)

        self._change(change)

    def promote(self, role: str) -> str:
        """Make the canary the stable one; its id.

        Raises:
            UsageError: there is none.
        """
        rollout = self._with_canary(role)
        self._change(lambda rollouts: rollouts.update({role: Rollout(cast(str, rollout.canary))}))
        return cast(str, rollout.canary)

    def roll_back(self, role: str) -> str:
        """Give the canary no more jobs until the rollout is set anew; its id.

        Raises:
            UsageError: there is none.
        """
        rollout = self._with_canary(role)
        self._change(lambda rollouts: rollouts.update({role: Rollout(rollout.stable)}))
        return cast(str, rollout.canary)

    def assign(self, job: Job) -> tuple[Channel, dict[str, str]]:
        """The channel of a job and the networks that it sets. Asked once for each job, and kept with it.

        A job that has a channel already stays on it; one that names a network of its own keeps that.
        """
        chosen: dict[str, str] = {}
        canaries: list[str] = []

        def change(rollouts: dict[str, Rollout]) -> None:
            chosen.clear()
            canaries.clear()
            for role, rollout in rollouts.items():
                if job.recipe.get(role, rollout.stable) != rollout.stable:
                    continue
                rollouts[role], admitted = self._admit(role, rollout, job)
                chosen[role] = cast(str, rollout.canary) if admitted else rollout.stable
                canaries.extend([role] if admitted else [])

        self._change(change)
        return ("canary" if canaries else "stable"), chosen

    def learn(self) -> None:
        """Take note of the jobs that have ended, and of those that the canary has failed."""
        while self._learn_some():
            pass

    def _admit(self, role: str, rollout: Rollout, job: Job) -> tuple[Rollout, bool]:
        if rollout.canary is None or job.channel == "stable" or bucket(role, job.id) >= rollout.share:
            return rollout, False
        in_flight = tuple(other for other in rollout.in_flight if other != job.id)
        breaker, admitted = may_try(rollout.breaker, len(in_flight), self._state.now_s(), self._bounds)
        if admitted:
            in_flight = (*in_flight, job.id)
        return replace(rollout, breaker=breaker, in_flight=in_flight), admitted

    def _learn_some(self) -> bool:
        """Outcomes are read and taken off the list in one step with what they change."""
        now_s, list_key = self._state.now_s(), self._state.key("outcomes")
        found: list[str] = []

        def step(pipeline: Pipeline) -> None:
            rollouts = _parse(cast(str | None, pipeline.get(self._key)))
            found[:] = cast(list[str], pipeline.lrange(list_key, 0, _READ_AT_ONCE - 1))
            for text in found:
                _note(rollouts, json.loads(text), now_s, self._bounds)
            pipeline.multi()
            pipeline.set(self._key, _text(rollouts))
            pipeline.ltrim(list_key, len(found), -1)

        if not self._state.client.llen(list_key):
            return False
        self._transact(step, list_key)
        return bool(found)

    def _with_canary(self, role: str) -> Rollout:
        rollout = self.all().get(role)
        if rollout is None or rollout.canary is None:
            raise UsageError(f"there is no canary for the {role}: begin with `mien rollout set`")
        return rollout

    def _change(self, change: Callable[[dict[str, Rollout]], None]) -> None:
        def step(pipeline: Pipeline) -> None:
            before = cast(str | None, pipeline.get(self._key))
            rollouts = _parse(before)
            change(rollouts)
            pipeline.multi()
            if (text := _text(rollouts)) != before:
                pipeline.set(self._key, text)

        self._transact(step)

    def _transact(self, step: Callable[[Pipeline], None], *keys: str) -> None:
        """Run a step again until nobody changed what it read."""
        try:
            self._state.client.transaction(step, self._key, *keys)
        except redis.RedisError as error:
            raise JobError(f"the queue's server does not answer: {error}") from error


def outcome_of(fields: Mapping[str, Any]) -> Outcome:
    """An outcome as the scripts write it."""
    return Outcome(
        ok=fields["ok"],
        why=fields.get("why", ""),
        seconds_per_frame=fields.get("seconds_per_frame"),
        distance=fields.get("distance"),
        flagged=fields.get("flagged"),
    )


def _note(rollouts: dict[str, Rollout], fields: Mapping[str, Any], now_s: float, bounds: Bounds) -> None:
    job, models = JobId(fields["job"]), cast(dict[str, str], fields["models"])
    for role, rollout in rollouts.items():
        used = models.get(role)
        if used is None or used not in (rollout.stable, rollout.canary):
            continue
        channel: Channel = "canary" if used == rollout.canary else "stable"
        in_flight = tuple(other for other in rollout.in_flight if other != job)
        breaker = rollout.breaker
        if fields["ok"] is not None:
            breaker = after(breaker, channel, outcome_of(fields), now_s, bounds)
        rollouts[role] = replace(rollout, breaker=breaker, in_flight=in_flight)


def _parse(text: str | None) -> dict[str, Rollout]:
    plain = cast(dict[str, dict[str, Any]], json.loads(text) if text else {})
    return {role: _rollout(fields) for role, fields in plain.items()}


def _rollout(fields: Mapping[str, Any]) -> Rollout:
    outcomes: dict[str, Any] = {
        channel: tuple(Outcome(**outcome) for outcome in fields["breaker"][channel]) for channel in ("stable", "canary")
    }
    breaker = Breaker(**{**fields["breaker"], **outcomes})
    return Rollout(fields["stable"], fields["canary"], fields["share"], breaker, tuple(fields["in_flight"]))


def _text(rollouts: Mapping[str, Rollout]) -> str:
    return json.dumps({role: dataclasses.asdict(rollout) for role, rollout in rollouts.items()})
