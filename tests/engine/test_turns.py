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
    plan = plan_turns(STEPS, 120, 1, frames_bytes=100)
    assert plan.groups == (("detector", "swapper", "restorer"),)
    assert (plan.chunk_frames, plan.peak_bytes, plan.loading_share, plan.taken) == (1, 120, 0, False)


def test_turns_where_they_do_not_with_chunks_that_keep_loading_small():
    plan = plan_turns(STEPS, 119, 1, frames_bytes=1000)
    assert plan.groups == (("detector", "swapper"), ("restorer",))
    assert plan.taken
    # 4 s of loading to .31 s a frame: 117 frames are the first at which loading takes a tenth.
    assert plan.chunk_frames == math.ceil(4.0 * 9 / 0.31) == 117
    assert plan.loading_share <= LOADING_SHARE


def test_chunks_keep_to_the_memory_for_frames():
    plan = plan_turns(STEPS, 80, 7, frames_bytes=100)
    assert plan.groups == (("detector", "swapper"), ("restorer",))
    assert plan.chunk_frames == 14
    assert plan.loading_share == pytest.approx(4 / (4 + 14 * 0.31))
    assert plan_turns(STEPS, 80, 101, frames_bytes=100).chunk_frames == 1


def test_a_network_that_is_used_twice_counts_once_in_a_group():
    occluder = Step("occluder", 30, load_s=1.0, frame_s=0.1)
    steps = (SWAPPER, occluder, RESTORER, occluder)
    assert plan_turns(steps, 130, 1, frames_bytes=100).groups == (("swapper", "occluder", "restorer"),)
    assert plan_turns(steps, 90, 1, frames_bytes=100).groups == (("swapper",), ("occluder", "restorer"))


def test_too_small_a_budget_is_refused_with_the_smallest_that_works():
    with pytest.raises(UsageError, match=r"budget of 59B is too small for swapper: .* at least 60B"):
        plan_turns(STEPS, 59, 2, frames_bytes=100)
    assert plan_turns(STEPS, 60, 2, frames_bytes=100).peak_bytes == 60


steps = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 100), st.floats(0, 5), st.floats(0, 0.5)).map(
        lambda values: Step(*values)
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda step: step.model,
)


@given(steps, st.integers(1, 400), st.integers(1, 5), st.integers(1, 8))
def test_a_plan_keeps_the_budget_and_is_refused_only_if_none_would(given_steps, budget, frame_bytes, most_frames):
    frames_bytes = most_frames * frame_bytes
    smallest = max(step.held_bytes for step in given_steps)
    if budget < smallest:
        with pytest.raises(UsageError, match=f"at least {smallest}B"):
            plan_turns(given_steps, budget, frame_bytes, frames_bytes=frames_bytes)
        return
    plan = plan_turns(given_steps, budget, frame_bytes, frames_bytes=frames_bytes)
    assert [model for group in plan.groups for model in group] == [step.model for step in given_steps]
    assert plan.peak_bytes <= budget
    assert 1 <= plan.chunk_frames <= most_frames
    assert plan.taken == (sum(step.held_bytes for step in given_steps) > budget)
