"""Decoding times, cuts and clocks as pure functions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.media.timing import Continuity, Segment, common_time_base, decoding_times, rank_at, split
from mien.recipe import Position


@given(st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=12), min_size=1, max_size=4), st.randoms())
def test_decoding_times_rise_and_never_pass_presentation(parts: list[list[int]], random) -> None:
    """Whatever order the frames of each part are coded in, keyframe first."""
    pts: list[int] = []
    time = 1000
    for steps in parts:
        part = []
        for step in steps:
            time += step
            part.append(time)
        rest = part[1:]
        random.shuffle(rest)
        pts += [part[0], *rest]
    dts = decoding_times(np.array(pts))
    assert len(dts) == len(pts)
    assert (np.diff(dts) > 0).all()
    assert (dts <= pts).all()


def test_decoding_times_without_reordering_are_the_presentation_times() -> None:
    assert decoding_times(np.array([5, 7, 12])).tolist() == [5, 7, 12]
    assert decoding_times(np.array([5])).tolist() == [5]


def test_decoding_times_of_two_parts_with_b_frames() -> None:
    assert decoding_times(np.array([0, 20, 10, 30, 50, 40])).tolist() == [-10, 0, 10, 20, 30, 40]


@given(
    st.lists(st.floats(0.01, 3), min_size=1, max_size=80),
    st.sets(st.integers(0, 79)),
    st.floats(1, 10),
)
def test_cuts_cover_everything_once(steps: list[float], keys: set[int], seconds: float) -> None:
    times = np.cumsum(steps)
    keyframes = sorted(key for key in keys if key < len(times))
    segments = split(times, keyframes, seconds)
    assert segments[0].first == 0
    assert segments[-1].end == len(times)
    assert [segment.number for segment in segments] == list(range(len(segments)))
    assert all(one.end == two.first for one, two in pairwise(segments))
    assert all(segment.end > segment.first for segment in segments)


def test_cuts_at_keyframes_near_the_ideal_place() -> None:
    times = np.arange(100) / 10
    assert split(times, [0, 18, 41], 2.0)[:2] == [Segment(0, 0, 18), Segment(1, 18, 41)]
    assert split(times, [0, 35], 2.0)[0] == Segment(0, 0, 20)


@pytest.mark.parametrize(
    ("text", "rank"),
    [("0", 0), ("0.04", 1), ("0.041", 2), ("1", 25), ("99", 50), ("0f", 0), ("7f", 7), ("99f", 50)],
)
def test_positions(text: str, rank: int) -> None:
    times = np.arange(50, dtype=np.int64) * 512 + 12800
    assert rank_at(Position.parse(text), times, Fraction(1), Fraction(1, 12800)) == rank


def test_the_coarsest_clock() -> None:
    base = Fraction(1, 90000)
    assert common_time_base(np.array([7, 3607, 7207]), base) == Fraction(1, 25)
    assert common_time_base(np.array([0, 3000, 7500]), base) == Fraction(1, 60)
    assert common_time_base(np.array([5]), base) == base


def test_only_decoding_times_tell_that_a_clock_starts_again() -> None:
    clock = Continuity(Fraction(1, 10))
    assert [clock.offset(dts, 1) for dts in (None, 30, 31, None, 32)] == [0] * 5
    assert [clock.offset(dts, 1) for dts in (2, None, 3)] == [31] * 3
    assert clock.restarts == 1
