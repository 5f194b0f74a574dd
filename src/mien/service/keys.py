"""API keys: what one permits, and how a token is made and checked. No storage here; see `keyring`."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NewType, cast, get_args

from mien.errors import UsageError

KeyId = NewType("KeyId", str)
Scope = Literal["assets:read", "assets:write", "jobs:read", "jobs:write", "metrics:read"]

SCOPES: tuple[Scope, ...] = get_args(Scope)
DEFAULT_SCOPES: tuple[Scope, ...] = tuple(scope for scope in SCOPES if scope != "metrics:read")

_ID_BYTES, _SECRET_BYTES = 6, 32
_TOKEN = re.compile(rf"mien_([0-9a-f]{{{2 * _ID_BYTES}}})_([0-9a-f]{{{2 * _SECRET_BYTES}}})")
_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one key may take. A limit of 0 permits nothing.

    Raises:
        UsageError: one is negative.
    """

    requests_per_minute: int = 600
    """Sustained rate of calls."""
    burst: int = 100
    """Calls that may come at once after a pause."""
    jobs_in_flight: int = 100
    """Jobs that are neither finished nor failed nor cancelled."""
    minutes_per_day: float = 600.0
    """Media minutes of the jobs accepted in a day (UTC); a picture counts as a second."""
    stored_bytes: int = 50_000_000_000
    """Uploads that were not deleted yet."""
    upload_bytes: int = 5_000_000_000
    """One upload."""
    cost_per_job: float | None = None
    """Estimated price of one job, in the currency of the service's `--price-per-hour`; None = any."""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is not None and value < 0:
                raise UsageError(f"the limit {name} = {value}: give 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """One key. The token itself is known only to whoever was given it.

    Raises:
        UsageError: the tenant's name, a scope or the name makes no sense.
    """

    id: KeyId
    tenant: str
    """Whose assets and jobs it sees; small letters, digits and hyphens."""
    name: str
    """For people."""
    digest: str
    """SHA-256 of the secret in hex. The secret has 256 random bits: there is nothing that a slow hash could add."""
    scopes: frozenset[Scope] = frozenset(DEFAULT_SCOPES)
    limits: Limits = field(default_factory=Limits)
    share: float = 1.0
    """Of the machines while other tenants want them, too."""
    created_s: float
    """Unix time."""
    expires_s: float | None = None
    """First moment at which it is no longer valid."""
    revoked_s: float | None = None

    def __post_init__(self) -> None:
        if not _TENANT.fullmatch(self.tenant):
            raise UsageError(
                f"the tenant '{self.tenant}': give small letters, digits and hyphens, at most 63, such as acme-films"
            )
        if unknown := sorted(self.scopes - set(SCOPES)):
            raise UsageError(f"unknown scope '{unknown[0]}': there is {', '.join(SCOPES)}")
        if not self.scopes:
            raise UsageError("a key without a scope permits nothing: leave the option out for the usual ones")
        if not self.share > 0:
            raise UsageError(f"the share {self.share}: give more than 0; 1 is what everybody has")

    def state(self, now_s: float) -> Literal["valid", "expired", "revoked"]:
        """Whether it can be used at a moment."""
        if self.revoked_s is not None and now_s >= self.revoked_s:
            return "revoked"
        return "expired" if self.expires_s is not None and now_s >= self.expires_s else "valid"

    def opens(self, secret: str) -> bool:
        """Whether a token's secret is this key's, in constant time."""
        return hmac.compare_digest(digest_of(secret), self.digest)

    def to_mapping(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        limits = {name: getattr(self.limits, name) for name in Limits.__dataclass_fields__}
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**own, "scopes": sorted(self.scopes), "limits": limits}

    @classmethod
    def from_mapping(cls, fields: dict[str, Any]) -> ApiKey:
        """The inverse of `to_mapping`."""
        values: dict[str, Any] = {**fields, "scopes": frozenset(fields["scopes"]), "limits": Limits(**fields["limits"])}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Minted:
    """A new key together with its token, which is shown once."""

    key: ApiKey
    token: str


def mint(
    tenant: str,
    *,
    name: str = "",
    scopes: Iterable[str] = DEFAULT_SCOPES,
    limits: Limits | None = None,
    share: float = 1.0,
    now_s: float,
    valid_s: float | None = None,
) -> Minted:
    """Make a key that nobody had before.

    Raises:
        UsageError: see `ApiKey`.
    """
    key_id, secret = secrets.token_hex(_ID_BYTES), secrets.token_hex(_SECRET_BYTES)
    key = ApiKey(
        id=KeyId(key_id),
        tenant=tenant,
        name=name,
        digest=digest_of(secret),
        scopes=cast("frozenset[Scope]", frozenset(scopes)),
        limits=limits or Limits(),
        share=share,
        created_s=now_s,
        expires_s=None if valid_s is None else now_s + valid_s,
    )
    return Minted(key, f"mien_{key_id}_{secret}")


def parse_token(token: str) -> tuple[KeyId, str] | None:
    """Id and secret of a token; None if it has not the form of one."""
    match = _TOKEN.fullmatch(token)
    return (KeyId(match[1]), match[2]) if match else None


def digest_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
