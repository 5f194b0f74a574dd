"""What the service tells, as values. Moments are Unix times in seconds; see the service's OpenAPI document."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

JobState = Literal["queued", "running", "joining", "done", "failed", "cancelled", "needs_review"]
ENDED: frozenset[str] = frozenset({"done", "failed", "cancelled", "needs_review"})


class _Told:
    """A value that is read from an answer; members that this version does not know are left out."""

    __slots__ = ()

    @classmethod
    def read(cls, members: Mapping[str, Any]) -> Self:
        """Of an answer's members."""
        known = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: members[name] for name in known if name in members})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset(_Told):
    """A file that was uploaded."""

    id: str
    name: str
    size_bytes: int
    sha256: str
    media_type: str
    created_at: float
    kind: str
    width: int
    height: int
    frames: int
    seconds: float
    faces: int | None = None
    unfit: str | None = None
    warnings: list[str] = dataclasses.field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(_Told):
    """What a job would take."""

    kind: str
    width: int
    height: int
    frames: int
    media_seconds: float
    segments: int
    enlarged: int
    seconds: float
    memory_bytes: int
    cost: float | None
    stages: list[str]
    models: list[dict[str, Any]]
    encoding: str | None
    warnings: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(_Told):
    """A job as it was when it was asked for."""

    id: str
    state: JobState
    tier: str
    priority: str
    kind: str
    recipe: dict[str, Any]
    stage: str
    frames: int
    frames_done: int
    progress: float
    seconds_left: float | None
    created_at: float
    started_at: float | None
    ended_at: float | None
    segments: list[dict[str, Any]]
    flagged: list[dict[str, Any]]
    error: dict[str, str] | None
    """`kind` and `message`."""
    result: dict[str, Any] | None
    """`name`, `size_bytes`, `media_type`, `report`."""
    cost: float | None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(_Told):
    """Where the result can be fetched without a key."""

    url: str
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a job."""

    id: str
    kind: str
    data: dict[str, Any]
