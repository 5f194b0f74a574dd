"""Doing what an Idempotency-Key stands for once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mien.service.api.front import Front
from mien.service.keys import ApiKey
from mien.service.problems import Problem

KEY_PATTERN = r"^[\x21-\x7e]{1,200}$"

Made = TypeVar("Made")


def once(
    front: Front,
    key: ApiKey,
    idempotency_key: str | None,
    body: bytes,
    choose_id: Callable[[], str],
    make: Callable[[str], Made],
) -> Made:
    """What `make` gives for an id. With a key it is called with the same id each time, and at most once at a time.

    Args:
        front: the API's parts.
        key: who asks.
        idempotency_key: the header, if it was sent.
        body: what is asked for.
        choose_id: makes a fresh id.
        make: makes the thing with an id, or finds it.

    Raises:
        Problem: in_flight or key_reused; whatever `make` raises.
    """
    if idempotency_key is None:
        return make(choose_id())
    claim = front.idempotency.claim(key.tenant, idempotency_key, body, choose_id)
    try:
        made = make(claim.made)
    except Problem:
        front.idempotency.failed(claim)
        raise
    except BaseException:
        # It may have been made all the same: the next try finds it by its id.
        front.idempotency.done(claim)
        raise
    front.idempotency.done(claim)
    return made
