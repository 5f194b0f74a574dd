"""Records of consent and of barred faces, as plain data."""

from __future__ import annotations

import base64
import dataclasses
import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Self

import numpy as np

from mien.errors import UsageError, VaultError
from mien.trust.people import Embedding, digest_of

Kind = Literal["consent", "barred"]
State = Literal["valid", "not yet valid", "expired", "revoked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceRecord:
    """A person's face and what is to be done about it."""

    id: str
    kind: Kind
    subject: str
    """Who, in the keeper's own words."""
    added_at: datetime
    """All times are UTC."""
    embeddings: tuple[Embedding, ...] = dataclasses.field(compare=False)
    """Of one face in each picture that was given; none once they were forgotten."""
    digests: tuple[str, ...]
    """Of the embeddings, which stay."""
    scope: tuple[str, ...] = ()
    """Purposes that are permitted; none named = any."""
    valid_from: datetime
    valid_until: datetime | None = None
    evidence: str | None = None
    """URI of what proves the consent."""
    revoked_at: datetime | None = None

    @classmethod
    def make(
        cls,
        kind: Kind,
        subject: str,
        embeddings: tuple[Embedding, ...],
        *,
        scope: tuple[str, ...] = (),
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        evidence: str | None = None,
    ) -> Self:
        """A new record with an id of its own.

        Raises:
            UsageError: nobody is named, or it ends before it begins.
        """
        now = datetime.now(UTC).replace(microsecond=0)
        begins = valid_from or now
        if not subject.strip():
            raise UsageError("nobody is named: say whose face it is, in words by which you will know the record")
        if valid_until is not None and valid_until <= begins:
            raise UsageError(f"the consent would end ({valid_until:%Y-%m-%d}) before it begins ({begins:%Y-%m-%d})")
        return cls(
            id=f"{kind}-{secrets.token_hex(6)}",
            kind=kind,
            subject=subject,
            added_at=now,
            embeddings=embeddings,
            digests=tuple(digest_of(face) for face in embeddings),
            scope=scope,
            valid_from=begins,
            valid_until=valid_until,
            evidence=evidence,
        )

    def state(self, now: datetime) -> State:
        """Whether it holds."""
        if self.revoked_at is not None:
            return "revoked"
        if now < self.valid_from:
            return "not yet valid"
        if self.valid_until is not None and now >= self.valid_until:
            return "expired"
        return "valid"

    def ended_at(self) -> datetime | None:
        """When it ceases to hold, if that is known."""
        return self.revoked_at or self.valid_until

    def permits(self, purpose: str | None) -> bool:
        """Whether its scope has this purpose."""
        return not self.scope or purpose in self.scope

    def to_mapping(self) -> dict[str, Any]:
        """Plain data, ready for JSON, without the face itself."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del fields["embeddings"]
        return {name: _plain(value) for name, value in fields.items()}

    def to_bytes(self) -> bytes:
        """All of it, to be sealed."""
        faces = [base64.b64encode(np.ascontiguousarray(face, "<f4").tobytes()).decode() for face in self.embeddings]
        return json.dumps({**self.to_mapping(), "embeddings": faces}).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The inverse of `to_bytes`.

        Raises:
            VaultError: it is no record.
        """
        try:
            fields: dict[str, Any] = json.loads(content)
            fields["embeddings"] = tuple(
                np.frombuffer(base64.b64decode(face), "<f4").astype(np.float32) for face in fields["embeddings"]
            )
            for name in ("added_at", "valid_from", "valid_until", "revoked_at"):
                fields[name] = datetime.fromisoformat(fields[name]) if fields[name] else None
            for name in ("scope", "digests"):
                fields[name] = tuple(fields[name])
            return cls(**fields)
        except (ValueError, KeyError, TypeError) as error:
            raise VaultError(f"a record of another version of mien, or none at all ({error})") from error


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value
