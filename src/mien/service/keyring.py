"""Where API keys are kept: one field of a Redis hash each, without their secrets."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from mien.errors import UsageError
from mien.service.keys import ApiKey, KeyId, parse_token
from mien.service.problems import refuse

if TYPE_CHECKING:
    from mien.service.state import State


class Keyring:
    """The keys of an installation. Safe to use from several threads."""

    def __init__(self, state: State) -> None:
        self._redis = state.client
        self._keys = state.key("keys")
        self._secret = state.key("secret")

    def add(self, key: ApiKey) -> None:
        """Keep a new key."""
        self._redis.hset(self._keys, key.id, json.dumps(key.to_mapping()))

    def find(self, key_id: KeyId) -> ApiKey | None:
        """The key of an id."""
        text = cast("str | None", self._redis.hget(self._keys, key_id))
        return None if text is None else ApiKey.from_mapping(json.loads(text))

    def all(self) -> list[ApiKey]:
        """Every key, oldest first, those that are no longer valid as well."""
        texts = cast("list[str]", self._redis.hvals(self._keys))
        return sorted((ApiKey.from_mapping(json.loads(text)) for text in texts), key=lambda key: key.created_s)

    def revoke(self, key_id: KeyId, now_s: float) -> ApiKey:
        """Make a key invalid for good; one that was revoked before stays as it is.

        Raises:
            UsageError: there is no such key.
        """
        key = self.find(key_id)
        if key is None:
            raise UsageError(f"there is no key '{key_id}': `mien keys list` shows them")
        if key.revoked_s is None:
            key = replace(key, revoked_s=now_s)
            self.add(key)
        return key

    def check(self, token: str, now_s: float) -> ApiKey:
        """The valid key that a token opens.

        Raises:
            Problem: unauthorised. What is told of a token is told only to whoever has its secret.
        """
        parsed = parse_token(token)
        key = self.find(parsed[0]) if parsed else None
        if parsed is None or key is None or not key.opens(parsed[1]):
            refuse("unauthorised", "the key is not one of this service: give it as 'Authorization: Bearer mien_...'")
        if (state := key.state(now_s)) != "valid":
            refuse("unauthorised", f"the key '{key.name or key.id}' is {state}: ask the operator for another one")
        return key

    def secret(self) -> bytes:
        """The installation's own secret, made when it is first asked for."""
        self._redis.set(self._secret, secrets.token_hex(32), nx=True)
        return bytes.fromhex(cast(str, self._redis.get(self._secret)))
