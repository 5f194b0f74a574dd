"""Everything that the service knows about assets and jobs, kept in Redis or Valkey and changed by atomic steps only.

The two halves of the service meet here: the API creates, shows and cancels; workers claim, beat, finish and fail.
Whoever holds a grant may be late: each step compares its attempt with the one that counts, and says whether it counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import redis

from mien.service import records
from mien.service.records import (
    Asset,
    AssetId,
    Event,
    Failure,
    FlaggedFrame,
    Job,
    JobId,
    JobState,
    Priority,
    Result,
    Segment,
    TaskName,
    TenantId,
    TierName,
    WorkerId,
)
from mien.service.redis_client import PREFIX, Scripts, connect
from mien.service.serialising import asset_from_text, asset_to_text, job_from_hash, job_to_hash, plain

START, JOIN = TaskName("start"), TaskName("join")
How = Literal["again", "dead", "refused", "stable"]
"""After a failed try: again while tries are left, to the dead letters at once, refused because of what was given, or
the canary's fault, and so anew with the stable networks."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One try of one task, given to a worker. Nobody else's try of it counts while this one does."""

    job: JobId
    task: TaskName
    attempt: int
    """Unique within the job and growing."""
    kind: str = ""
    """Of the job."""
    suspect: bool = False
    """The worker that had it last was lost: nothing else is to be near it."""
    first: int = 0
    """Frame index of a segment."""
    end: int = 0

    @property
    def folder(self) -> str:
        """Where in storage this try writes; no other try does."""
        return f"{job_folder(self.job)}{self.attempt:06d}/"


@dataclass(frozen=True, slots=True)
class Head:
    """What a tenant waits for in one tier with one priority."""

    tenant: TenantId
    priority: Priority
    due_s: float
    """When the first of it should be taken, in the server's Unix time."""
    since_s: float
    """Since when that one's job waits."""
    waiting: int
    served: float
    """Work that the tenant was given in this tier, over its weight."""
    suspect: bool = False
    """The worker that had the first of it was lost, perhaps because of it."""


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life of one try."""

    grant: Grant
    frames_done: int
    stage: str


def job_folder(job: JobId) -> str:
    """Where all that belongs to a job lies in storage."""
    return f"jobs/{job}/"


class State:
    """The one place that knows. Safe to use from several threads."""

    def __init__(self, client: redis.Redis, prefix: str = PREFIX) -> None:
        self.client = client
        self.prefix = prefix
        self._scripts = Scripts(client, prefix)

    @classmethod
    def at(cls, url: str) -> State:
        """The state on a server (see `connect`)."""
        return cls(connect(url))

    def key(self, kind: str, *names: str) -> str:
        """Name of a key; `scripts/common.lua` lists them."""
        return f"{self.prefix}{':'.join((kind, *names))}"

    # Assets

    def add_asset(self, asset: Asset) -> None:
        """Remember an upload whose file is in storage."""
        with self.client.pipeline() as steps:
            steps.set(self.key("asset", asset.id), asset_to_text(asset))
            steps.zadd(self.key("assets", asset.tenant), {asset.id: asset.created_s})
            steps.execute()

    def asset(self, asset: AssetId) -> Asset | None:
        """An upload."""
        text = cast(str | None, self.client.get(self.key("asset", asset)))
        return None if text is None else asset_from_text(text)

    def assets(self, tenant: TenantId) -> list[Asset]:
        """All of a tenant's, oldest first."""
        names = cast(list[str], self.client.zrange(self.key("assets", tenant), 0, -1))
        return [asset for name in names if (asset := self.asset(AssetId(name))) is not None]

    def forget_asset(self, asset: Asset) -> None:
        """The inverse of `add_asset`; the file in storage is the caller's to delete."""
        with self.client.pipeline() as steps:
            steps.delete(self.key("asset", asset.id))
            steps.zrem(self.key("assets", asset.tenant), asset.id)
            steps.execute()

    # Jobs as the API sees them

    def create(self, job: Job) -> bool:
        """Take a job on and put it into its queue. False if one with this id is there already, which stays as it is."""
        fields = [text for item in job_to_hash(job).items() for text in item]
        return bool(self._scripts.run("create", job.id, *fields))

    def job(self, job: JobId) -> Job | None:
        """A job as it is now."""
        fields = cast(dict[str, str], self.client.hgetall(self.key("job", job)))
        return job_from_hash(job, fields) if fields else None

    def jobs(self, tenant: TenantId, *, first: int = 0, count: int = 100) -> list[Job]:
        """A tenant's jobs, newest first."""
        names = cast(list[str], self.client.zrevrange(self.key("jobs", tenant), first, first + count - 1))
        return [job for name in names if (job := self.job(JobId(name))) is not None]

    def open_jobs(self, tenant: TenantId) -> int:
        """How many of a tenant's jobs have not ended."""
        return self.client.zcard(self.key("open", tenant))

    def segments(self, job: JobId) -> list[Segment]:
        """The segments of a video in work, in order; none before they are known and after the job has ended."""
        names = sorted(cast(set[str], self.client.smembers(self.key("tasks", job))))
        found: list[Segment] = []
        for name in names:
            if name.startswith("segment-"):
                fields = cast(dict[str, str], self.client.hgetall(self.key("task", f"{job}/{name}")))
                if fields:
                    found.append(_segment(name, fields))
        return found

    def cancel(self, job: JobId) -> bool:
        """Stop a job; whoever works on it stops within a batch. False if it had ended."""
        return bool(self._scripts.run("cancel", job))

    def retry(self, job: JobId) -> bool:
        """Do a job that failed or was cancelled once more, from the start. False if it is in another state."""
        return bool(self._scripts.run("retry", job))

    def delete(self, job: JobId) -> bool:
        """Forget a job; workers clear its folder in storage. False if there is none."""
        return bool(self._scripts.run("delete", job))

    def dead(self) -> list[Job]:
        """Jobs that failed for good, oldest first, until they are retried or deleted."""
        names = cast(list[str], self.client.zrange(self.key("dead"), 0, -1))
        return [job for name in names if (job := self.job(JobId(name))) is not None]

    def events(self, job: JobId, after: str = "0", *, wait_s: float = 0.0, count: int = 100) -> list[Event]:
        """What happened to a job after an event, waiting up to `wait_s` seconds for the first of it."""
        block = round(wait_s * 1000) or None
        stream = self.key("events", job)
        answer = cast(Any, self.client.xread({stream: after}, count=count, block=block))
        entries = answer[0][1] if answer else []
        return [Event(name, fields["kind"], json.loads(fields["data"])) for name, fields in entries]

    # Jobs as workers see them

    def heads(self, tier: TierName) -> list[Head]:
        """What waits, for `dispatch.choose`."""
        rows = cast(list[list[str]], self._scripts.run("heads", tier))
        return [
            Head(
                TenantId(tenant),
                cast(Priority, priority),
                float(due),
                float(since),
                int(waiting),
                float(served),
                suspect=lost == "1",
            )
            for tenant, priority, due, since, waiting, served, lost in rows
        ]

    def claim(
        self,
        tier: TierName,
        head: Head,
        worker: WorkerId,
        *,
        lease_s: float,
        kind: str = "",
        suspects: bool = True,
    ) -> Grant | None:
        """Take the first of what a tenant waits for; nothing if somebody else did, or it is of another kind of job.

        Args:
            tier: whose queue.
            head: one that `heads` gave.
            worker: who asks.
            lease_s: without a beat for so long the try is lost.
            kind: `picture`, ...; empty = any.
            suspects: take one whose worker was lost, too.
        """
        request = records.new_id("worker")
        place = (tier, head.priority, head.tenant)
        answer = self._scripts.run("claim", request, *place, worker, lease_s, kind, int(suspects))
        if not answer:
            return None
        job, task, attempt, its_kind, lost, first, end = cast(list[str], answer)
        return Grant(JobId(job), TaskName(task), int(attempt), its_kind, lost == "1", int(first), int(end))

    def beat(self, beats: Sequence[Beat], *, lease_s: float) -> list[bool]:
        """Say that tries are alive and how far they are. Gives for each whether it still counts."""
        if not beats:
            return []
        fields = [
            text
            for beat in beats
            for text in (beat.grant.job, beat.grant.task, beat.grant.attempt, beat.frames_done, beat.stage)
        ]
        return [bool(counts) for counts in self._scripts.run("beat", lease_s, *fields)]

    def split(
        self, grant: Grant, segments: Sequence[tuple[int, int]], *, frames: int, output: object, busy_s: float
    ) -> bool:
        """The start of a video is done: queue its segments (first frame, index after the last). False if too late."""
        fields = [text for number, (first, end) in enumerate(segments) for text in (segment_name(number), first, end)]
        return bool(self._scripts.run("split", *_try(grant), busy_s, json.dumps(output), frames, *fields))

    def made(self, grant: Grant, *, output: object, busy_s: float) -> bool:
        """A segment is done; the last one brings the join. False if too late."""
        return bool(self._scripts.run("made", *_try(grant), busy_s, json.dumps(output)))

    def outputs(self, job: JobId) -> dict[TaskName, Any]:
        """What the finished tasks of a job gave."""
        found: dict[TaskName, Any] = {}
        for name in sorted(cast(set[str], self.client.smembers(self.key("tasks", job)))):
            text = cast(str | None, self.client.hget(self.key("task", f"{job}/{name}"), "output"))
            if text is not None:
                found[TaskName(name)] = json.loads(text)
        return found

    def complete(
        self,
        grant: Grant,
        result: Result,
        *,
        frames: int,
        busy_s: float,
        flagged: Sequence[FlaggedFrame] = (),
        needs_review: bool = False,
        figures: Mapping[str, float | None] | None = None,
        totals: Mapping[str, float] | None = None,
    ) -> bool:
        """Publish a job's result: it is done from here on. False if too late, and the result is to be thrown away.

        Args:
            grant: the try that made it.
            result: what it is.
            frames: of the result.
            busy_s: seconds that the try took.
            flagged: frames that a person may want to look at.
            needs_review: whether a person has to.
            figures: for the rollout of networks; see `rollout`.
            totals: amounts to be counted; see `counts`.
        """
        state: JobState = "needs_review" if needs_review else "done"
        counts = ("frames", frames, "frames_done", frames)
        fields = ("result", plain(result), "flagged", plain(tuple(flagged)), *counts)
        plain_figures = (json.dumps(figures or {}), json.dumps(totals or {}))
        return bool(self._scripts.run("complete", *_try(grant), busy_s, state, *plain_figures, *fields))

    def fail(self, grant: Grant, failure: Failure, how: How, *, busy_s: float) -> Literal["waiting", "failed"] | None:
        """A try failed. Gives what became of the task or its job; None if the try did not count anyway."""
        return self._scripts.run("fail", *_try(grant), busy_s, failure.kind, failure.message, how)

    def hand_back(self, grant: Grant) -> bool:
        """A try was stopped for no fault of its own: somebody else goes on, and it is not counted."""
        return bool(self._scripts.run("hand_back", *_try(grant)))

    def expire(self, most: int = 100) -> int:
        """End the tries whose workers were not heard of in time. Gives how many there were."""
        return len(self._scripts.run("expire", most))

    def choose_models(self, grant: Grant, channel: records.Channel, models: Mapping[str, Any]) -> bool:
        """Say which networks a job runs with: fields of its recipe. False if too late."""
        return bool(self._scripts.run("choose_models", *_try(grant), channel, json.dumps(models)))

    def sweeps(self) -> Iterator[tuple[str, JobId]]:
        """Jobs whose left-overs in storage are to go now: the sweep's name for `swept`, and the job."""
        for name in cast(list[str], self.client.zrangebyscore(self.key("sweeps"), "-inf", self.now_s())):
            yield name, JobId(name.rsplit("/", 1)[0])

    def swept(self, name: str) -> None:
        """A sweep is done."""
        self.client.zrem(self.key("sweeps"), name)

    # Workers and the server

    def sign_on(self, worker: WorkerId, about: Mapping[str, Any], *, lease_s: float) -> None:
        """Say that a worker is there, and what it is; it is forgotten after `lease_s` without a word."""
        self.client.set(self.key("worker", worker), json.dumps(about), px=round(lease_s * 1000))

    def sign_off(self, worker: WorkerId) -> None:
        """The inverse of `sign_on`."""
        self.client.delete(self.key("worker", worker))

    def workers(self) -> dict[WorkerId, Mapping[str, Any]]:
        """Who is there."""
        prefix = self.key("worker", "")
        found: dict[WorkerId, Mapping[str, Any]] = {}
        for key in self.client.scan_iter(f"{prefix}*", count=1000):
            text = cast(str | None, self.client.get(key))
            if text is not None:
                found[WorkerId(key.removeprefix(prefix))] = json.loads(text)
        return found

    def counts(self) -> dict[tuple[str, ...], float]:
        """Totals since the beginning, by name and labels: `jobs` by tier, channel and state; `failed_tries` by kind;
        `busy_seconds`, `frames`, `media_seconds` and `cost` by tier."""
        fields = cast(dict[str, str], self.client.hgetall(self.key("counts")))
        return {tuple(name.split("|")): float(amount) for name, amount in fields.items()}

    def now_s(self) -> float:
        """The server's Unix time, by which all moments are told."""
        seconds, microseconds = self.client.time()
        return seconds + microseconds / 1e6

    def uptime_s(self) -> float:
        """Since when the server runs."""
        return float(self.client.info("server")["uptime_in_seconds"])


def segment_name(number: int) -> TaskName:
    """The task that makes a segment."""
    return TaskName(f"segment-{number:06d}")


def segment_number(task: TaskName) -> int:
    """The inverse of `segment_name`."""
    return int(task.rsplit("-", 1)[1])


def _try(grant: Grant) -> tuple[str, str, int]:
    return grant.job, grant.task, grant.attempt


def _segment(name: str, fields: dict[str, str]) -> Segment:
    return Segment(
        number=segment_number(TaskName(name)),
        first=int(fields["first"]),
        end=int(fields["end"]),
        state=cast(records.TaskState, fields["state"]),
        attempts=int(fields["spent"]),
        frames_done=int(fields["done"]),
        worker=WorkerId(fields["worker"]) if "worker" in fields else None,
    )
