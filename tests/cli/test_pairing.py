"""Frames are paired by time, whatever the rates and lengths."""

from fractions import Fraction
from typing import NamedTuple

import pytest

from mien.cli.pairing import pair


class Shot(NamedTuple):
    name: str
    time_s: float


def clip(name, rate, frames, shift_s=0.0):
    return [Shot(f"{name}{number}", float(number / Fraction(rate)) + shift_s) for number in range(frames)]


def paired(before, after, before_end_s):
    return [(first.name, second.name) for first, second in pair(before, after, before_end_s)]


def test_equal_clips_are_paired_frame_by_frame():
    expected = [(f"b{number}", f"a{number}") for number in range(50)]
    assert paired(clip("b", 25, 50), clip("a", 25, 50), 2.0) == expected


def test_times_rounded_by_a_container_change_nothing():
    rounded = [Shot(shot.name, round(shot.time_s, 3)) for shot in clip("a", "30000/1001", 60)]
    expected = [(f"b{number}", f"a{number}") for number in range(60)]
    assert paired(clip("b", "30000/1001", 60), rounded, 60 * 1001 / 30000) == expected
    assert [(b, a) for a, b in paired(rounded, clip("b", "30000/1001", 60), 60 * 1001 / 30000)] == expected


@pytest.mark.parametrize(("before_frames", "after_frames", "pairs"), [(10, 25, 10), (25, 10, 10), (1, 5, 1), (0, 5, 0)])
def test_the_shorter_clip_decides(before_frames, after_frames, pairs):
    assert len(paired(clip("b", 25, before_frames), clip("a", 25, after_frames), before_frames / 25)) == pairs


def test_a_slower_before_is_held():
    assert paired(clip("b", 10, 2), clip("a", 20, 4), 0.2) == [("b0", "a0"), ("b0", "a1"), ("b1", "a2"), ("b1", "a3")]


def test_a_faster_before_is_thinned():
    assert paired(clip("b", 20, 4), clip("a", 10, 2), 0.2) == [("b0", "a0"), ("b2", "a1")]


def test_variable_rates_are_followed():
    before = [Shot("b0", 0.0), Shot("b1", 0.5), Shot("b2", 0.6)]
    after = [Shot("a0", 0.0), Shot("a1", 0.55), Shot("a2", 0.9)]
    assert paired(before, after, 1.0) == [("b0", "a0"), ("b1", "a1"), ("b2", "a2")]
