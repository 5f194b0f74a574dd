"""Idempotency-Key: a request that is sent again within a day gets the answer of the first time.

The id of what the request makes is chosen before it is made and kept with the key. So a request whose answer was lost,
even by a crash in the middle, finds what it had made instead of making it twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mien.service.problems import refuse

if TYPE_CHECKING:
    from mien.service.state import State

KEPT_S = 24 * 3600
LOCKED_S = 120
"""How long the first request may take, before another one with its key takes over: longer than any check."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to do what a key stands for."""

    made: str
    """Id of what is made."""
    again: bool
    """Whether an earlier request may have made it already."""
    name: str
    """In Redis."""


class Idempotency:
    """The keys of the last day. Safe to use from several threads."""

    def __init__(self, state: State) -> None:
        self._redis = state.client
        self._state = state

    def claim(self, tenant: str, key: str, body: bytes, choose_id: Callable[[], str]) -> Claim:
        """Take a key; it must be settled by `done` or `failed`.

        Args:
            tenant: whose key; those of others are other keys.
            key: the header's value.
            body: what was asked for.
            choose_id: makes the id of what will be made.

        Raises:
            Problem: in_flight, or key_reused for another body.
        """
        name = self._state.key("once", tenant, hashlib.sha256(key.encode()).hexdigest())
        fingerprint = hashlib.sha256(body).hexdigest()
        mine = json.dumps({"fingerprint": fingerprint, "made": choose_id()})
        fresh = bool(self._redis.set(name, mine, nx=True, ex=KEPT_S))
        kept = cast("dict[str, Any]", json.loads(cast("str | None", self._redis.get(name)) or mine))
        if kept["fingerprint"] != fingerprint:
            refuse("key_reused", "this Idempotency-Key was sent with another request: give each request its own")
        if not self._redis.set(f"{name}:lock", "1", nx=True, ex=LOCKED_S):
            refuse("in_flight", "the request with this Idempotency-Key is still being answered", retry_after_s=1)
        return Claim(kept["made"], not fresh, name)

    def done(self, claim: Claim) -> None:
        """What the key stands for is there."""
        self._redis.delete(f"{claim.name}:lock")

    def failed(self, claim: Claim) -> None:
        """Nothing was made: the key is free for a request that was put right."""
        name = claim.name
        self._redis.delete(name, f"{name}:lock")
