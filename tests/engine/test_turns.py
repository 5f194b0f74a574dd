import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.engine.turns import LOADING_SHARE, Step, plan_turns
from mien.errors import UsageError

DETECTOR = Step("detector", 20, load_s=0.5, frame_s=0.01)
SWAPPER = Step("swapper", 60, load_s=2.0, frame_s=0.1)
RESTORER = Step("restorer", 40, load_s=1.5, frame_s=0.2)
STEPS = (DETECTOR, SWAPPER, RESTORER)


def test_all_together_where_they_fit():
    plan = plan_turns(STEPS, 130, 1, least_frames=8)
    assert plan.groups == (("detector", "swapper", "restorer"),)
    assert plan.chunk_frames == 8
    assert plan.peak_bytes == 128
    assert plan.loading_share == 0


def test_turns_where_they_do_not_with_chunks_that_keep_loading_small():
    plan = plan_turns(STEPS, 220, 1, least_frames=101)
    assert plan.groups == (("detector", "swapper"), ("restorer",))
    # 4 s of loading to .31 s a frame: 117 frames are the first at which loading takes a tenth.
    assert plan.chunk_frames == math.ceil(4.0 * 9 / 0.31) == 117
    assert plan.peak_bytes == 80 + 117
    assert plan.loading_share <= LOADING_SHARE


def test_a_tight_budget_takes_more_turns_for_larger_chunks():
    plan = plan_turns(STEPS, 120, 1, least_frames=4, most_frames=256)
    assert plan.groups[-1] == ("restorer",)
    assert plan.chunk_frames == 60
    assert plan.peak_bytes <= 120


def test_too_small_a_budget_is_refused_with_the_smallest_that_works():
    with pytest.raises(UsageError, match=r"budget of 60B is too small: swapper alone holds 60B .* give at least 68B"):
        plan_turns(STEPS, 60, 2, least_frames=4)
    assert plan_turns(STEPS, 68, 2, least_frames=4).chunk_frames == 4


steps = st.lists(
    st.tuples(st.integers(1, 100), st.floats(0, 5), st.floats(0, 0.5)).map(lambda values: Step("net", *values)),
    min_size=1,
    max_size=6,
)


@given(steps, st.integers(1, 400), st.integers(1, 5), st.integers(1, 8))
def test_a_plan_keeps_the_budget_and_is_refused_only_if_none_would(given_steps, budget, frame_bytes, least_frames):
    smallest = max(step.held_bytes for step in given_steps) + least_frames * frame_bytes
    if budget < smallest:
        with pytest.raises(UsageError, match=f"give at least {smallest}B"):
            plan_turns(given_steps, budget, frame_bytes, least_frames=least_frames)
        return
    plan = plan_turns(given_steps, budget, frame_bytes, least_frames=least_frames)
    assert sum(len(group) for group in plan.groups) == len(given_steps)
    assert plan.peak_bytes <= budget
    assert plan.chunk_frames >= least_frames
    if sum(step.held_bytes for step in given_steps) + least_frames * frame_bytes <= budget:
        assert len(plan.groups) == 1
