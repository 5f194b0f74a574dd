"""The executor: order, back-pressure, one error wins, cancellation, clean ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from mien.errors import Interrupted
from mien.pipeline.executor import Stage, execute

_GRACE_SECONDS = 20
"""Bound of waits that end at once unless the executor is broken."""


def _mien_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("mien-")]


def test_every_item_passes_every_stage_in_order() -> None:
    seen: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    stages = [Stage(name, lambda item, name=name: seen[name].append(item[0])) for name in seen]

    execution = execute(([number] for number in range(500)), stages, source_name="read")

    assert execution.items == 500
    assert all(numbers == list(range(500)) for numbers in seen.values())
    assert list(execution.busy_seconds) == ["read", "a", "b", "c"]
    assert execution.first_done is not None
    assert not _mien_threads()


def test_a_stage_sees_what_the_one_before_did_to_the_item() -> None:
    results: list[int] = []

    def double(item: list[int]) -> None:
        item[0] *= 2

    execute(([n] for n in range(10)), [Stage("double", double), Stage("keep", lambda item: results.append(item[0]))])

    assert results == [2 * n for n in range(10)]


def test_stages_overlap() -> None:
    """Two stages that wait for each other can only finish if they run at the same time on different items."""
    barrier = threading.Barrier(2, timeout=_GRACE_SECONDS)
    execution = execute(
        range(2),
        [
            Stage("first", lambda item: barrier.wait() and None if item == 1 else None),
            Stage("second", lambda item: barrier.wait() and None if item == 0 else None),
        ],
    )
    assert execution.items == 2


def test_a_slow_stage_holds_the_source_back() -> None:
    alive = peak = 0
    lock = threading.Lock()
    blocked = threading.Event()

    def source() -> Iterator[int]:
        nonlocal alive, peak
        for number in range(40):
            with lock:
                alive += 1
                peak = max(peak, alive)
                if alive == 5:
                    blocked.set()
            yield number

    def slow(item: int) -> None:
        nonlocal alive
        if item == 0:  # Every permit is taken before the first item is finished.
            assert blocked.wait(_GRACE_SECONDS)
        with lock:
            alive -= 1

    execute(source(), [Stage("quick", lambda _item: None), Stage("slow", slow)], in_flight=5)

    assert 5 <= peak <= 6  # The slow stage counts down just before its permit returns.


@pytest.mark.parametrize("place", ["source", "first", "last", "tick"])
def test_an_error_anywhere_is_raised_and_everything_ends(place: str) -> None:
    closed = threading.Event()

    def source() -> Iterator[int]:
        try:
            for number in range(10_000):
                if place == "source" and number == 20:
                    raise ValueError(place)
                yield number
        finally:
            closed.set()

    def fail_at(here: str, number: int) -> None:
        if here == place and number == 20:
            raise ValueError(place)

    def tick(_done: int) -> None:
        if place == "tick":
            raise ValueError(place)

    stages = [Stage(name, lambda item, name=name: fail_at(name, item)) for name in ("first", "middle", "last")]
    with pytest.raises(ValueError, match=place):
        execute(source(), stages, tick=tick)

    assert closed.is_set()
    assert not _mien_threads()


def test_the_first_error_wins() -> None:
    def first(item: int) -> None:
        if item == 1:
            for thread in threading.enumerate():
                if thread.name == "mien-second":
                    thread.join(_GRACE_SECONDS)
            raise RuntimeError("came second")

    def second(_item: int) -> None:
        raise ValueError("came first")

    with pytest.raises(ValueError, match="came first"):
        execute(range(2), [Stage("first", first), Stage("second", second)])


def test_cancellation_stops_in_the_middle() -> None:
    wanted, done = threading.Event(), []

    def work(item: int) -> None:
        done.append(item)
        if item == 30:
            wanted.set()

    def endless() -> Iterator[int]:
        number = 0
        while True:
            yield number
            number += 1

    with pytest.raises(Interrupted):
        execute(endless(), [Stage("work", work)], cancelled=wanted.is_set)

    assert len(done) >= 30
    assert not _mien_threads()


def test_keyboard_interrupt_of_the_caller_stops_all_threads() -> None:
    def interrupt(_done: int) -> None:
        raise KeyboardInterrupt

    def endless() -> Iterator[int]:
        while True:
            yield 0

    with pytest.raises(KeyboardInterrupt):
        execute(endless(), [Stage("work", lambda _item: None)], tick=interrupt)
    assert not _mien_threads()


def test_an_empty_source_is_done_at_once() -> None:
    execution = execute(iter(()), [Stage("work", lambda _item: None)])
    assert (execution.items, execution.first_done) == (0, None)


def test_the_last_tick_tells_the_full_count() -> None:
    told: list[int] = []
    execute(range(100), [Stage("work", lambda _item: None)], tick=told.append)
    assert told[-1] == 100
    assert told == sorted(set(told))
