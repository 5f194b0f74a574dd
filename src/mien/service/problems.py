"""What the service answers when it does not do what it was asked: RFC 9457 problems, one kind for each reason.

A kind has a stable name, which is the last part of the problem's `type`; the detail says what was given, what is wrong
and what to change. The client turns a kind back into the error of `mien.errors` that the local command raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from mien.errors import (
    ConsentError,
    ContentRefused,
    EngineError,
    FaceError,
    Interrupted,
    JobError,
    MediaError,
    MienError,
    ModelError,
    NoFaceError,
    PolicyError,
    RecipeError,
    UnfitSourceError,
    UnreadableError,
    UnsupportedMediaError,
    UsageError,
)

TYPE_PREFIX = "urn:mien:problem:"
MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """One reason for which a call is not answered as asked."""

    name: str
    status: int
    """HTTP status."""
    title: str
    error: type[MienError] = JobError
    """What the client raises."""


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("malformed_request", 422, "The request is not what this call takes", UsageError),
        Kind("recipe", 422, "The recipe does not hold together", RecipeError),
        Kind("usage", 422, "The request makes no sense", UsageError),
        Kind("unreadable_media", 422, "A file cannot be read", UnreadableError),
        Kind("unsupported_media", 415, "Neither a picture nor a video that is taken", UnsupportedMediaError),
        Kind("media", 422, "A file cannot be used", MediaError),
        Kind("no_face", 422, "No face where one is needed", NoFaceError),
        Kind("unfit_source", 422, "The source face cannot be used", UnfitSourceError),
        Kind("faces", 422, "Faces do not fit the job", FaceError),
        Kind("model", 422, "A network is missing or not what it says", ModelError),
        Kind("engine", 422, "An engine, device or precision is not there", EngineError),
        Kind("job", 422, "The work could not be done", JobError),
        Kind("interrupted", 409, "The job was cancelled", Interrupted),
        Kind("content_refused", 403, "What is shown is refused", ContentRefused),
        Kind("consent_refused", 403, "No valid consent, or a face that is barred", ConsentError),
        Kind("policy_refused", 403, "Refused by policy", PolicyError),
        Kind("unauthorised", 401, "No valid key", PolicyError),
        Kind("forbidden", 403, "The key does not permit this", PolicyError),
        Kind("not_found", 404, "There is no such thing", UsageError),
        Kind("method", 405, "The address does not take this method", UsageError),
        Kind("wrong_state", 409, "Not possible in this state", UsageError),
        Kind("in_flight", 409, "The first request with this Idempotency-Key is still being answered"),
        Kind("key_reused", 422, "This Idempotency-Key was used for another request", UsageError),
        Kind("too_slow", 408, "The sender stopped"),
        Kind("too_large", 413, "Too large", PolicyError),
        Kind("range", 416, "The range lies outside the file", UsageError),
        Kind("expired", 410, "The link has expired", PolicyError),
        Kind("over_limit", 403, "Over the key's limit", PolicyError),
        Kind("quota", 429, "The key's quota is used up", PolicyError),
        Kind("rate", 429, "Too many requests", PolicyError),
        Kind("internal", 500, "A fault in the service"),
        Kind("unavailable", 503, "The service cannot answer at the moment"),
    )
}
"""Every kind by its name."""

_OF_ERRORS = (
    "recipe", "no_face", "unfit_source", "faces", "unreadable_media", "unsupported_media", "media", "model", "engine",
    "interrupted", "content_refused", "consent_refused", "policy_refused", "usage", "job",
)  # fmt: skip
"""Kinds that stand for errors of the work itself, special ones first."""


@dataclass(slots=True, eq=False)
class Problem(MienError):
    """Raised wherever a call is refused; the API answers with it."""

    kind: Kind
    detail: str
    """What was given, what is wrong and what to do."""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further members for programs, such as `field` or `retry_after_s`."""

    def __str__(self) -> str:
        return self.detail

    @property
    def headers(self) -> dict[str, str]:
        """What goes into the answer's head besides the type."""
        headers: dict[str, str] = {}
        if self.kind.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if "retry_after_s" in self.more:
            headers["Retry-After"] = str(self.more["retry_after_s"])
        return headers

    def to_mapping(self, instance: str | None = None) -> dict[str, Any]:
        """The members of RFC 9457; `instance` is the address that was called."""
        members = {
            "type": TYPE_PREFIX + self.kind.name,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
        }
        return {**members, **({"instance": instance} if instance else {}), **self.more}

    @classmethod
    def of(cls, error: MienError) -> Problem:
        """The problem that an error of the work is."""
        if isinstance(error, Problem):
            return error
        kind = next((KINDS[name] for name in _OF_ERRORS if isinstance(error, KINDS[name].error)), KINDS["job"])
        times = {"times_s": list(error.times_s)} if isinstance(error, ContentRefused) else {}
        return cls(kind, str(error), times)


def refuse(kind: str, detail: str, **more: Any) -> NoReturn:
    """Raise the problem of a kind.

    Raises:
        Problem: always.
    """
    raise Problem(KINDS[kind], detail, more)


def error_of(kind: str, detail: str) -> MienError:
    """The error that the local command raises for a problem of this kind; a kind that is not known is a `JobError`."""
    return KINDS[kind].error(detail) if kind in KINDS else JobError(detail)


def kind_of_error(class_name: str) -> str:
    """Kind of a failure that is known by the name of its class in `mien.errors`."""
    return next((name for name in _OF_ERRORS if KINDS[name].error.__name__ == class_name), "job")
