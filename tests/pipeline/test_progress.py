"""Rate and time left are arithmetic over given moments."""

from __future__ import annotations

import pytest

from mien.pipeline.progress import ProgressMeter, Rate


def test_a_steady_pace_is_the_rate() -> None:
    rate = Rate()
    for tenth in range(200):
        value = rate.update(tenth / 10, tenth * 3)
    assert value == pytest.approx(30)


def test_one_moment_has_no_rate() -> None:
    assert Rate().update(12.0, 40) == 0.0


def test_the_rate_follows_a_change_within_the_window() -> None:
    rate, done = Rate(window_seconds=2.0), 0
    for tenth in range(100):
        done += 10 if tenth < 50 else 1
        value = rate.update(tenth / 10, done)
    assert value == pytest.approx(10)


def test_a_pause_longer_than_the_window_is_seen() -> None:
    rate = Rate(window_seconds=1.0)
    rate.update(0, 0)
    rate.update(1, 100)
    assert rate.update(11, 100) == 0.0


def test_time_left_comes_from_rate_and_rest() -> None:
    meter = ProgressMeter("swapping", 300)
    assert meter.at(0.0, 0).seconds_left is None
    event = meter.at(2.0, 100)
    assert event.frames_per_second == pytest.approx(50)
    assert event.seconds_left == pytest.approx(4.0)


def test_what_an_earlier_run_did_counts_as_done_but_not_as_speed() -> None:
    meter = ProgressMeter("swapping", 300, already_done=200)
    meter.at(0.0, 0)
    event = meter.at(1.0, 50)
    assert (event.done, event.total) == (250, 300)
    assert event.frames_per_second == pytest.approx(50)
    assert event.seconds_left == pytest.approx(1.0)


def test_more_frames_than_announced_leave_no_negative_time() -> None:
    meter = ProgressMeter("swapping", 10)
    meter.at(0.0, 0)
    assert meter.at(1.0, 12).seconds_left == 0.0
