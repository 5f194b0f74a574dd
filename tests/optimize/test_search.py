"""Searches over nodes, with measurements that are known."""

import math
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.optimize.search import bisect, culprits, fewest_kept, sensitivities

NODES = tuple("abcdefghijklmnop")


def worst(harm: dict[str, float]):
    return lambda changed: max((harm.get(node, 0.0) for node in changed), default=0.0)


def test_the_most_harmful_comes_first_and_what_breaks_before_it():
    found = sensitivities("abcd", worst({"b": 0.5, "d": math.nan, "a": 0.5}))
    assert [(one.node, one.damage) for one in found] == [("d", math.inf), ("a", 0.5), ("b", 0.5), ("c", 0.0)]


@pytest.mark.parametrize("needed", range(17))
def test_no_more_is_kept_than_has_to_be(needed: int):
    asked: list[int] = []

    def passes(kept: Collection[str]) -> bool:
        asked.append(len(kept))
        return len(kept) >= needed

    assert fewest_kept(NODES, passes) == frozenset(NODES[:needed])
    assert len(asked) <= 6  # 16 and then one of 16 places by halving


def test_what_is_always_kept_counts_with_it():
    assert fewest_kept("abc", lambda kept: {"z", "a"} <= set(kept), frozenset("z")) == frozenset("az")


def test_where_keeping_all_does_not_do_there_is_no_answer():
    assert fewest_kept("abc", lambda _kept: False) is None


@given(st.sets(st.sampled_from(NODES)))
def test_culprits_are_found_wherever_they_are(harmful: set[str]):
    measured: list[frozenset[str]] = []

    def damage(changed: frozenset[str]) -> float:
        measured.append(changed)
        return 1.0 if changed & harmful else 0.0

    assert culprits(NODES, damage, 0.5) == harmful
    assert len(measured) <= 1 + 2 * 4 * len(harmful)


def test_what_adds_up_is_found_at_a_lower_limit():
    # Each of four nodes is under the limit; together they are over the bar.
    harm = {"b": 0.4, "c": 0.3, "m": 0.2, "n": 0.1}

    def total(changed: Collection[str]) -> float:
        return sum(harm.get(node, 0.0) for node in changed)

    kept = bisect(NODES, worst(harm), lambda kept: total(set(NODES) - set(kept)) <= 0.31, limit=1.0)
    assert kept == {"b", "c"}


def test_nothing_is_kept_where_nothing_has_to_be_and_nothing_is_measured_twice():
    assert bisect(NODES, worst({}), lambda _kept: True, 1.0) == frozenset()
    measured: list[frozenset[str]] = []

    def damage(changed: frozenset[str]) -> float:
        measured.append(changed)
        return 1.0 if "k" in changed else 0.0

    assert bisect(NODES, damage, lambda _kept: False, 0.5) is None
    assert len(measured) == len(set(measured))
