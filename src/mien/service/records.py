"""What the service remembers: tenants, assets, jobs and the segments of their videos.

A job's life:

    queued ── running ── joining ── done
                 │          │   └── needs_review    flagged more than the job allows
                 └──────────┴────── failed          or cancelled, from any state before

A picture or an animation is one task; a video is a task that looks at it, one for each segment and one that joins them.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NewType

JobId = NewType("JobId", str)
TenantId = NewType("TenantId", str)
"""A customer's name, as their keys say it."""
AssetId = NewType("AssetId", str)
TaskName = NewType("TaskName", str)
"""`start`, `segment-0007` or `join`, within a job."""
WorkerId = NewType("WorkerId", str)

JobState = Literal["queued", "running", "joining", "done", "failed", "cancelled", "needs_review"]
ENDED: frozenset[JobState] = frozenset({"done", "failed", "cancelled", "needs_review"})
"""States that a job does not leave by itself."""
TaskState = Literal["waiting", "running", "done"]
TierName = Literal["batch", "realtime", "preview"]
TIERS: tuple[TierName, ...] = ("batch", "realtime", "preview")
Priority = Literal["high", "normal", "low"]
PRIORITIES: tuple[Priority, ...] = ("high", "normal", "low")
Channel = Literal["stable", "canary"]

MAX_ATTEMPTS = 3
"""Tries of one task, unless the job says otherwise; a worker that is lost counts as one."""

ASSET = "asset:"
"""A recipe that is sent to the service names its files `asset:ID`."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that a tenant uploaded."""

    id: AssetId
    tenant: TenantId
    name: str
    """As the tenant calls it; only its ending is of use."""
    key: str
    """In storage."""
    size_bytes: int
    sha256: str
    media_type: str
    created_s: float
    """Unix time."""


@dataclass(frozen=True, slots=True)
class FlaggedFrame:
    """A frame of a result that a person may want to look at."""

    frame: int
    time_s: float
    reason: str
    thumbnail: str | None = None
    """Key in storage."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job or a try of it failed."""

    kind: str
    """Name of the class in `mien.errors`; `WorkerLost` for a worker that went away."""
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a finished job gives."""

    key: str
    """In storage."""
    name: str
    size_bytes: int
    media_type: str
    report: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The plain form of `mien.report.Report`."""


@dataclass(frozen=True, slots=True)
class Job:
    """One recipe of one tenant, as it is now."""

    id: JobId
    tenant: TenantId
    recipe: Mapping[str, Any]
    """Plain data of `mien.recipe.Recipe`; files are named `asset:ID`, `output` is a bare file name."""
    tier: TierName = "batch"
    priority: Priority = "normal"
    created_s: float = 0.0
    """Unix time; set when the job is created."""
    weight: float = 1.0
    """Share of the machines that the tenant has while others want them, too."""
    kind: str = "picture"
    """`picture`, `animation` or `video`: small pictures that wait are taken together."""
    max_attempts: int = MAX_ATTEMPTS
    review_above: float | None = None
    """Share of flagged frames (0..1) above which the result needs a review; None = never."""
    webhook: str | None = None
    trace: str = ""
    """Trace id of the request that created it."""
    state: JobState = "queued"
    channel: Channel | None = None
    """Which models it runs with; None until it is taken."""
    models: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields of the recipe that its channel sets."""
    stage: str = ""
    """What is being done, in words a user reads."""
    frames: int = 0
    """Frames of the whole job; 0 while that is not known."""
    frames_done: int = 0
    started_s: float | None = None
    ended_s: float | None = None
    error: Failure | None = None
    result: Result | None = None
    flagged: tuple[FlaggedFrame, ...] = ()
    busy_s: float = 0.0
    """Seconds that workers spent on it, failed tries included."""
    attempts: int = 0
    """Tasks taken so far, tries included."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ENDED

    def seconds_left(self, now_s: float) -> float | None:
        """Expected time to the end by the pace so far; None while there is none."""
        if self.ended or self.started_s is None or not self.frames_done:
            return None
        return (now_s - self.started_s) / self.frames_done * (self.frames - self.frames_done)


@dataclass(frozen=True, slots=True)
class Segment:
    """An independent part of a video."""

    number: int
    """0, 1, ... in order of time."""
    first: int
    """Frame index."""
    end: int
    """Index after its last frame."""
    state: TaskState = "waiting"
    attempts: int = 0
    frames_done: int = 0
    worker: WorkerId | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a job."""

    id: str
    """Position in the job's stream; what comes after it is asked for by it."""
    kind: Literal["state", "progress", "segment", "attempt", "flagged"]
    data: Mapping[str, Any]


def new_id(kind: Literal["job", "asset", "worker"]) -> str:
    """A fresh id that nobody can guess, with what it names in front."""
    return f"{kind}_{secrets.token_urlsafe(15).replace('-', '0').replace('_', '1')}"
