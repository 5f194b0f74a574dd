"""What the swapper is built for: how much of the source is in the result, and how much of the target is kept."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from support.animate import Clip
from support.people import INVENTED, NAMES, analyser, still
from support.scenes import talking_head
from support.scoring import Score, score_clip, score_pair, summary
from support.swapping import portrait, swap_clip, swap_portrait


def score(source: str, target: str, shape: float = 1.0) -> Score:
    result = swap_portrait(source, target, shape=shape)
    return score_pair(portrait(source), portrait(target), result, analyser())


@pytest.fixture(scope="module")
def stills() -> list[Score]:
    return [score(source, target) for source, target in itertools.permutations(NAMES, 2)]


def test_stills_show_the_source(stills: list[Score]) -> None:
    assert np.mean([one["identity"] for one in stills]) <= 0.42
    for one in stills:
        assert one["identity"] < 0.6
        assert one["identity"] < one["target_identity"]


def test_stills_show_no_seam(stills: list[Score]) -> None:
    figures = summary(stills)
    assert figures["ring"] <= 1.08
    assert figures["ring_p90"] <= 1.25


def test_stills_keep_expression_and_pose(stills: list[Score]) -> None:
    figures = summary(stills)
    assert figures["eyes"] <= 0.045
    assert figures["mouth"] <= 0.045
    assert max(figures["yaw"], figures["pitch"], figures["roll"]) <= 3


@pytest.mark.slow
def test_other_people_become_each_other() -> None:
    # Every person once as source and once as target, in a ring of partners two apart.
    people = [*NAMES, *INVENTED]
    pairs = [(people[i], people[(i + 5) % len(people)]) for i in range(len(people))]
    scores = [score(*pair) for pair in pairs]
    figures = summary(scores)
    assert figures["identity"] <= 0.47
    assert figures["ring"] <= 1.08
    for one in scores:
        assert one["identity"] < 0.6
        assert one["identity"] < one["target_identity"]


def test_without_shape_the_landmarks_stay() -> None:
    for source, target in (("astronaut", "grace_hopper"), ("luispedro", "astronaut")):
        assert score(source, target, shape=0.0)["landmarks"] <= 0.035


@pytest.fixture(scope="module")
def clips() -> list[Score]:
    """Every still as a talking head, with each of the others' faces."""
    scores: list[Score] = []
    for source, target in itertools.permutations(NAMES, 2):
        clip = Clip(talking_head(still(target), width=360, height=270, seconds=1.0, size=0.6))
        before = list(clip.pictures())
        scores.append(score_clip(portrait(source), before, swap_clip(clip, source), analyser()))
    return scores


@pytest.mark.slow
def test_clips_show_the_source_and_stay_steady(clips: list[Score]) -> None:
    figures = summary(clips)
    assert figures["identity"] <= 0.47
    assert all(one["identity"] < 0.6 for one in clips)
    assert figures["ring"] <= 1.08
    assert figures["warp_face"] <= 1.15
    assert figures["warp_ring"] <= 1.10
    assert figures["jitter"] <= 1.1


@pytest.mark.slow
def test_clips_keep_their_expressions(clips: list[Score]) -> None:
    figures = summary(clips)
    assert figures["eyes"] <= 0.045
    assert figures["mouth"] <= 0.045
    assert figures["eyes_correlation"] >= 0.95
    assert figures["mouth_correlation"] >= 0.95
    assert max(figures["yaw"], figures["pitch"], figures["roll"]) <= 3
