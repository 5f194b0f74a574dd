"""Works that take turns with networks: any order of groups, the same results, few changes."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.pipeline.turning import in_chunks, take_turns


def course(number: int, needs: Sequence[str], log: list[tuple[int, str]]) -> Generator[str, None, None]:
    for need in needs:
        yield need
        log.append((number, need))


def loads(log: Sequence[tuple[int, str]], groups: Sequence[frozenset[str]]) -> int:
    """How often another group than the last one had to be loaded, if each is dropped for the next."""
    count, loaded = 0, frozenset[str]()
    for _, need in log:
        if need not in loaded:
            loaded = next(group for group in groups if need in group)
            count += 1
    return count


def test_each_group_does_the_whole_chunk() -> None:
    log: list[tuple[int, str]] = []
    groups = [frozenset("s"), frozenset("r")]
    take_turns([course(number, "sr", log) for number in range(10)], groups)
    assert log == [(number, need) for need in "sr" for number in range(10)]
    assert loads(log, groups) == 2


def test_works_without_networks_begin_in_order() -> None:
    log: list[tuple[int, str]] = []
    take_turns([course(0, "", log), course(1, "s", log)], [frozenset("s")])
    assert log == [(1, "s")]
    take_turns([], [frozenset("s")])


def test_an_unknown_network_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"in no group: \{'x'\}"):
        take_turns([course(0, "sx", [])], [frozenset("s")])


@given(st.lists(st.text("abcd", max_size=6), max_size=8), st.permutations("abcd"), st.integers(1, 4))
def test_every_work_does_all_its_steps_in_order(works: list[str], order: list[str], size: int) -> None:
    log: list[tuple[int, str]] = []
    groups = [frozenset(group) for group in in_chunks(order, size)]
    take_turns([course(number, needs, log) for number, needs in enumerate(works)], groups)
    for number, needs in enumerate(works):
        assert "".join(need for owner, need in log if owner == number) == needs


@given(st.lists(st.integers()), st.integers(1, 5))
def test_chunks_hold_all_items_in_order(items: list[int], size: int) -> None:
    chunks = list(in_chunks(items, size))
    assert [item for chunk in chunks for item in chunk] == items
    assert all(len(chunk) == size for chunk in chunks[:-1])
    assert all(chunks)
