"""Records as text, for Redis."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, cast

from mien.service.records import Asset, Failure, FlaggedFrame, Job, JobId, Result

_NUMBERS = {
    "created_s": float,
    "weight": float,
    "review_above": float,
    "started_s": float,
    "ended_s": float,
    "busy_s": float,
    "max_attempts": int,
    "frames": int,
    "frames_done": int,
    "attempts": int,
}
_NOT_KEPT = {"id"}


def plain(value: object) -> str:
    """A record, or a list of them, as JSON."""
    return json.dumps(value, default=lambda record: dataclasses.asdict(record))


def asset_to_text(asset: Asset) -> str:
    """The inverse of `asset_from_text`."""
    return plain(asset)


def asset_from_text(text: str) -> Asset:
    """The inverse of `asset_to_text`."""
    return Asset(**json.loads(text))


def job_to_hash(job: Job) -> dict[str, str]:
    """A job as the fields of a hash; those that are None are left out."""
    kept = {field.name: getattr(job, field.name) for field in dataclasses.fields(job) if field.name not in _NOT_KEPT}
    return {name: _text(value) for name, value in kept.items() if value is not None}


def job_from_hash(job: JobId, fields: Mapping[str, str]) -> Job:
    """The inverse of `job_to_hash`; fields that are the scripts' own are left out."""
    known = {field.name for field in dataclasses.fields(Job)}
    values = {name: _value(name, text) for name, text in fields.items() if name in known}
    return Job(id=job, **values)


def _text(value: object) -> str:
    return value if isinstance(value, str) else plain(value)


def _value(name: str, text: str) -> Any:
    if name in _NUMBERS:
        return _NUMBERS[name](float(text))
    if name in ("recipe", "models"):
        return json.loads(text)
    if name == "error":
        return Failure(**json.loads(text))
    if name == "result":
        return Result(**json.loads(text))
    if name == "flagged":
        return tuple(FlaggedFrame(**cast(dict[str, Any], flag)) for flag in json.loads(text))
    return text
