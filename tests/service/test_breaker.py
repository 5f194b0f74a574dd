import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.service.breaker import Bounds, Breaker, Outcome, after, fallen, may_try, rest_s

BOUNDS = Bounds()
GOOD, BAD = Outcome(True, seconds_per_frame=1.0, distance=0.3, flagged=0.0), Outcome(False, "it broke")


def run(outcomes: list[Outcome], breaker: Breaker | None = None, *, now_s: float = 0.0) -> Breaker:
    breaker = breaker or Breaker()
    for outcome in outcomes:
        breaker = after(breaker, "canary", outcome, now_s, BOUNDS)
    return breaker


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ([], "closed"),
        ([BAD] * 4, "closed"),
        ([BAD] * 5, "open"),
        ([BAD] * 4 + [GOOD] + [BAD] * 4, "closed"),
        ([GOOD] * 50 + [BAD] * 5, "open"),
    ],
)
def test_the_fifth_failure_in_a_row_opens(outcomes: list[Outcome], state: str) -> None:
    assert run(outcomes).state == state


def test_it_remembers_why() -> None:
    assert run([BAD] * 5).why == "5 failures in a row, the last: it broke"


@given(st.lists(st.sampled_from(["begin", "fail", "succeed"]), max_size=60))
def test_no_more_jobs_fail_than_five_in_a_row(steps: list[str]) -> None:
    """Whatever the order in which jobs begin and end, all that is in flight may fail and it is still five."""
    breaker, in_flight, failed_since_success = Breaker(), 0, 0
    for step in steps:
        if step == "begin":
            breaker, admitted = may_try(breaker, in_flight, 0.0, BOUNDS)
            in_flight += admitted
        elif in_flight:
            in_flight -= 1
            breaker = after(breaker, "canary", BAD if step == "fail" else GOOD, 0.0, BOUNDS)
            failed_since_success = failed_since_success + 1 if step == "fail" else 0
        assert failed_since_success + in_flight <= BOUNDS.failures or breaker.state == "open"
        assert failed_since_success <= BOUNDS.failures


def test_it_rests_then_one_job_at_a_time_tries_and_three_that_go_well_close_it() -> None:
    breaker = run([BAD] * 5, now_s=100.0)
    assert not may_try(breaker, 0, 100 + BOUNDS.rest_s - 1, BOUNDS)[1]
    breaker, admitted = may_try(breaker, 0, 100 + BOUNDS.rest_s, BOUNDS)
    assert admitted
    assert breaker.state == "half_open"
    assert not may_try(breaker, 1, 1000.0, BOUNDS)[1]
    assert run([GOOD] * 2, breaker).state == "half_open"
    closed = run([GOOD] * 3, breaker)
    assert (closed.state, closed.rests) == ("closed", 0)
    assert "it broke" in closed.why


def test_each_rest_is_twice_as_long_as_the_one_before() -> None:
    breaker = run([BAD] * 5)
    rests = [rest_s(breaker.rests, BOUNDS)]
    for _ in range(3):
        breaker, _ = may_try(breaker, 0, 1e9, BOUNDS)
        breaker = run([BAD], breaker)
        assert breaker.why.startswith("failed when tried again")
        rests.append(rest_s(breaker.rests, BOUNDS))
    assert rests == [600, 1200, 2400, 4800]
    assert rest_s(100, BOUNDS) == BOUNDS.longest_rest_s


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, None),
        ({"seconds_per_frame": 1.4}, None),
        ({"seconds_per_frame": 1.6}, "s a frame"),
        ({"distance": 0.34}, None),
        ({"distance": 0.36}, "identity distance"),
        ({"flagged": 0.2}, "flagged"),
        ({"distance": None}, None),
    ],
)
def test_a_fall_of_quality_or_speed_is_seen(changed: dict[str, float], words: str | None) -> None:
    values = {"seconds_per_frame": 1.0, "distance": 0.3, "flagged": 0.0, **changed}
    why = fallen([GOOD] * 10, [Outcome(True, **values)] * 10, BOUNDS)
    assert (why is None) == (words is None)
    assert words is None or words in str(why)


def test_few_outcomes_are_not_compared() -> None:
    assert fallen([GOOD] * 10, [Outcome(True, seconds_per_frame=9.0)] * 9, BOUNDS) is None


def test_a_slow_canary_opens_the_breaker() -> None:
    breaker = Breaker(stable=(GOOD,) * 10)
    breaker = run([Outcome(True, seconds_per_frame=2.0)] * 10, breaker)
    assert breaker.state == "open"
    assert "s a frame" in breaker.why


def test_failures_of_the_stable_channel_say_nothing_about_the_canary() -> None:
    breaker = Breaker()
    for _ in range(10):
        breaker = after(breaker, "stable", BAD, 0.0, BOUNDS)
    assert breaker == Breaker()
