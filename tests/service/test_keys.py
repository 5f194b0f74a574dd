"""Keys and what they have used: policy by tables, and the same arithmetic in Redis."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mien.errors import UsageError
from mien.service import quotas
from mien.service.idempotency import Idempotency
from mien.service.keyring import Keyring
from mien.service.keys import SCOPES, ApiKey, KeyId, Limits, mint, parse_token
from mien.service.problems import Problem
from mien.service.usage import Usage
from support.service import Place

NOW_S = 1_790_000_000.0


def test_a_key_opens_with_its_own_secret_only() -> None:
    minted, other = mint("acme", now_s=NOW_S), mint("acme", now_s=NOW_S)
    key_id, secret = parse_token(minted.token) or ("", "")
    assert key_id == minted.key.id != other.key.id
    assert minted.key.opens(secret)
    assert not other.key.opens(secret)
    assert minted.key.digest == hashlib.sha256(secret.encode()).hexdigest()
    assert ApiKey.from_mapping(minted.key.to_mapping()) == minted.key


@pytest.mark.parametrize(
    ("valid_s", "revoked_s", "at_s", "state"),
    [
        (None, None, 1e12, "valid"),
        (10, None, 9.9, "valid"),
        (10, None, 10, "expired"),
        (None, 5, 4.9, "valid"),
        (None, 5, 5, "revoked"),
        (3, 5, 6, "revoked"),
    ],
)
def test_when_a_key_is_valid(valid_s: float | None, revoked_s: float | None, at_s: float, state: str) -> None:
    from dataclasses import replace

    key = mint("acme", now_s=0, valid_s=valid_s).key
    assert replace(key, revoked_s=revoked_s).state(at_s) == state


@pytest.mark.parametrize(
    "fields",
    [
        {"tenant": "Acme"},
        {"tenant": ""},
        {"tenant": "a/b"},
        {"tenant": "a" * 64},
        {"scopes": ["jobs:eat"]},
        {"scopes": []},
        {"share": 0},
        {"share": float("nan")},
    ],
)
def test_a_key_that_makes_no_sense_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        mint(**{"tenant": "acme", "now_s": 0.0, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", Limits.__dataclass_fields__)
def test_no_limit_is_negative(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        Limits(**{name: -1})


def test_keys_are_kept_without_secrets_and_revoked_once(place: Place) -> None:
    ring = Keyring(place.state)
    minted = mint("acme", now_s=NOW_S, scopes=SCOPES)
    ring.add(minted.key)
    assert ring.check(minted.token, NOW_S) == minted.key
    assert ring.revoke(minted.key.id, NOW_S + 1).revoked_s == NOW_S + 1
    assert ring.revoke(minted.key.id, NOW_S + 9).revoked_s == NOW_S + 1
    with pytest.raises(Problem, match="revoked"):
        ring.check(minted.token, NOW_S + 2)
    with pytest.raises(UsageError, match="mien keys list"):
        ring.revoke(KeyId("nobody"), NOW_S)
    assert [key.id for key in ring.all()] == [minted.key.id]
    assert ring.secret() == Keyring(place.state).secret()
    assert len(ring.secret()) == 32


@pytest.mark.parametrize(
    ("per_minute", "burst", "calls_s", "allowed"),
    [
        (60, 1, [0, 0, 1, 1.5, 2], [True, False, True, False, True]),
        (60, 3, [0, 0, 0, 0, 1, 1], [True, True, True, False, True, False]),
        (600, 2, [0, 0, 0.05, 0.1, 0.2], [True, True, False, True, True]),
        (60, 2, [0, 100, 100, 100], [True, True, True, False]),
        (0, 5, [0, 1000], [False, False]),
        (5, 0, [0, 1000], [False, False]),
    ],
)
def test_turns(per_minute: int, burst: int, calls_s: list[float], allowed: list[bool]) -> None:
    limits, next_free_s, found = Limits(requests_per_minute=per_minute, burst=burst), 0.0, list[bool]()
    for at_s in calls_s:
        turn = quotas.take_turn(next_free_s, 1000 + at_s, limits)
        next_free_s = turn.next_free_s
        found.append(turn.allowed)
        if not turn.allowed and per_minute and burst:
            later = quotas.take_turn(next_free_s, 1000 + at_s + turn.retry_after_s, limits)
            assert later.allowed
    assert found == allowed


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    per_minute=st.integers(1, 6000),
    burst=st.integers(1, 20),
    pauses_ms=st.lists(st.integers(0, 2000), min_size=1, max_size=25),
)
def test_redis_counts_as_the_policy_does(place: Place, per_minute: int, burst: int, pauses_ms: list[int]) -> None:
    limits = Limits(requests_per_minute=per_minute, burst=burst)
    key, usage = mint("acme", now_s=0, limits=limits).key, Usage(place.state)
    next_free_s, at_s = 0.0, NOW_S
    for pause_ms in pauses_ms:
        at_s += pause_ms / 1000
        expected = quotas.take_turn(next_free_s, at_s, limits)
        next_free_s = expected.next_free_s
        if expected.allowed:
            assert usage.take_turn(key, at_s).remaining == expected.remaining
        else:
            with pytest.raises(Problem) as refused:
                usage.take_turn(key, at_s)
            assert refused.value.more["retry_after_s"] >= expected.retry_after_s


def test_what_was_refused_is_not_counted(place: Place) -> None:
    usage = Usage(place.state)
    key = mint("acme", now_s=0, limits=Limits(jobs_in_flight=2, minutes_per_day=1, stored_bytes=100)).key
    over: set[str] = set()
    usage.enter(key, "a", over.__contains__)
    usage.enter(key, "b", over.__contains__)
    with pytest.raises(Problem, match="limit is 2"):
        usage.enter(key, "c", over.__contains__)
    over.add("a")
    usage.enter(key, "c", over.__contains__)
    usage.leave(key.id, "b")
    usage.enter(key, "b", over.__contains__)

    usage.take_minutes(key, 40, NOW_S)
    with pytest.raises(Problem, match="tomorrow") as refused:
        usage.take_minutes(key, 30, NOW_S)
    assert 0 < refused.value.more["retry_after_s"] <= 86_400
    usage.take_minutes(key, 20, NOW_S)
    usage.take_minutes(key, 60, NOW_S + 86_400)

    usage.store(key, "one", 60)
    with pytest.raises(Problem, match="delete assets"):
        usage.store(key, "two", 41)
    assert usage.stored_bytes(key.id) == 60
    usage.store(key, "one", 60)
    usage.release(key.id, "one")
    assert usage.stored_bytes(key.id) == 0


def test_a_key_of_idempotency_outlives_a_crash_in_the_middle(place: Place) -> None:
    ids = iter("abcdef")
    once = Idempotency(place.state)
    first = once.claim("acme", "k", b"body", lambda: next(ids))
    with pytest.raises(Problem, match="still being answered"):
        once.claim("acme", "k", b"body", lambda: next(ids))
    place.state.client.delete(f"{first.name}:lock")  # As it goes by itself after a while.
    again = once.claim("acme", "k", b"body", lambda: next(ids))
    assert (again.made, again.again) == (first.made, True)
    with pytest.raises(Problem, match="its own"):
        once.claim("acme", "k", b"other", lambda: next(ids))
    assert once.claim("other", "k", b"other", lambda: next(ids)).made != first.made
    assert 0 < place.state.client.ttl(first.name) <= 24 * 3600
