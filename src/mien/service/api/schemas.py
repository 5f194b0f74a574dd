"""What goes over the wire, as the OpenAPI document shows it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mien.service.api.recipe_schema import RecipeBody
from mien.service.records import JobState, Priority, TaskState, TierName

_ASSET = "asset_1vGdYk3pJtXw0aQe7mZs"
_JOB = "job_8hTqLw2cRb5NfUy1KdXe"
_MOMENT = 1_790_000_000.0
_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


class Problem(BaseModel):
    """RFC 9457: why a call was not answered as asked, and what to change."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "urn:mien:problem:no_face",
                "title": "No face where one is needed",
                "status": 422,
                "detail": f"no usable source picture: {_ASSET} shows no face",
                "instance": "/v1/jobs",
                "field": "sources",
            }
        },
    )

    type: str = Field(description="`urn:mien:problem:` and the kind's name, which stays as it is.")
    title: str
    status: int
    detail: str = Field(description="What was given, what is wrong and what to do.")
    instance: str | None = None


class Asset(BaseModel):
    """A file of the tenant, and what looking into it told."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": _ASSET,
                "name": "portrait.jpg",
                "size_bytes": 91_231,
                "sha256": _SHA256,
                "media_type": "image/jpeg",
                "created_at": _MOMENT,
                "kind": "picture",
                "width": 1024,
                "height": 1024,
                "frames": 1,
                "seconds": 0.0,
                "faces": 1,
                "unfit": None,
                "warnings": [],
            }
        },
    )

    id: str
    name: str
    size_bytes: int
    sha256: str
    media_type: str
    created_at: float = Field(description="Unix time.")
    kind: str = Field(description="`picture`, `animation` or `video`.")
    width: int
    height: int
    frames: int
    seconds: float = Field(description="0 for a picture.")
    faces: int | None = Field(default=None, description="In a picture.")
    unfit: str | None = Field(default=None, description="Why the largest face cannot be a source.")
    warnings: list[str] = Field(default_factory=list[str])


class AssetList(BaseModel):
    """Assets, newest first."""

    assets: list[Asset]


class JobRequest(BaseModel):
    """One recipe to be done."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "recipe": {"target": "asset_5cNqXr0sTgHv8bWu2yMd", "sources": [_ASSET], "faces": "largest"},
                "tier": "batch",
                "priority": "normal",
                "webhook": "https://example.com/mien",
            }
        },
    )

    recipe: RecipeBody
    tier: TierName = Field(default="batch", description="`preview` is quick, small, and marked as a preview.")
    priority: Priority = "normal"
    webhook: str | None = Field(default=None, max_length=2000, description="Called once the job has ended.")
    review_above: float | None = Field(
        default=None, ge=0, le=1, allow_inf_nan=False, description="Share of flagged frames that needs a review."
    )


class Estimate(BaseModel):
    """What a job would take, for one face in the picture."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "kind": "video",
                "width": 1920,
                "height": 1080,
                "frames": 1500,
                "media_seconds": 60.0,
                "segments": 6,
                "enlarged": 1,
                "seconds": 105.0,
                "memory_bytes": 650_000_000,
                "cost": 0.0117,
                "stages": ["decode", "follow", "edit", "measure", "encode", "join"],
                "models": [{"model": "face_mesh_478", "engine": "openvino", "device": "cpu", "precision": "fp32"}],
                "encoding": "libx264 yuv420p in mp4 (crf 18)",
                "warnings": [],
            }
        },
    )

    kind: str
    width: int
    height: int
    frames: int
    media_seconds: float
    segments: int
    enlarged: int
    seconds: float = Field(description="Work of one worker.")
    memory_bytes: int
    cost: float | None = Field(description="In the operator's currency; null where no price is set.")
    stages: list[str]
    models: list[dict[str, Any]]
    encoding: str | None
    warnings: list[str]


class Segment(BaseModel):
    """An independent part of a video."""

    number: int
    first: int = Field(description="Frame index.")
    end: int = Field(description="Index after its last frame.")
    state: TaskState
    attempts: int
    frames_done: int


class FlaggedFrame(BaseModel):
    """A frame of the result to look at."""

    frame: int
    time_s: float
    reason: str
    thumbnail: bool = Field(description="Whether `/v1/jobs/{id}/flagged/{frame}` shows it.")


class Failure(BaseModel):
    """Why a job failed."""

    kind: str = Field(description="The problem's name, as in `urn:mien:problem:NAME`.")
    message: str


class Result(BaseModel):
    """What a finished job gives."""

    name: str
    size_bytes: int
    media_type: str
    report: dict[str, Any]


class Job(BaseModel):
    """One job as it is now."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": _JOB,
                "state": "running",
                "tier": "batch",
                "priority": "normal",
                "kind": "video",
                "recipe": {"target": "asset:asset_5cNqXr0sTgHv8bWu2yMd", "output": "result.mp4"},
                "stage": "swapping",
                "frames": 1500,
                "frames_done": 600,
                "progress": 0.4,
                "seconds_left": 63.0,
                "created_at": _MOMENT,
                "started_at": _MOMENT + 1,
                "ended_at": None,
                "segments": [],
                "flagged": [],
                "error": None,
                "result": None,
                "cost": 0.0047,
            }
        },
    )

    id: str
    state: JobState
    tier: TierName
    priority: Priority
    kind: str
    recipe: dict[str, Any]
    stage: str = Field(description="What is being done.")
    frames: int = Field(description="0 while that is not known.")
    frames_done: int
    progress: float = Field(description="0..1")
    seconds_left: float | None = Field(description="Expected; null while there is no pace.")
    created_at: float = Field(description="Unix time.")
    started_at: float | None
    ended_at: float | None
    segments: list[Segment]
    flagged: list[FlaggedFrame]
    error: Failure | None
    result: Result | None
    cost: float | None = Field(description="So far, in the operator's currency.")


class JobList(BaseModel):
    """Jobs, newest first."""

    jobs: list[Job]


class LinkRequest(BaseModel):
    """How long a link shall open."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"valid_s": 600}})

    valid_s: int | None = Field(default=None, ge=1, le=7 * 86_400, description="Seconds; null = as the operator set.")


class Link(BaseModel):
    """Where anyone who has it can fetch the result, without a key."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "url": f"https://mien.example/v1/results/{_JOB}?expires=1790003600&signature={_SHA256}",
                "expires_at": _MOMENT + 3600,
            }
        },
    )

    url: str
    expires_at: float


class Status(BaseModel):
    """Whether the service takes work."""

    status: Literal["ok"]
