"""The figures of a whole swap, where they are known: a swap that did nothing, and one that put the source itself."""

from fractions import Fraction

import numpy as np
import pytest

from mien.quality.metrics import face_mask
from support.animate import Clip
from support.people import analyser, picture, still
from support.scenes import talking_head
from support.scoring import score_clip, score_pair, summary


def test_a_swap_that_did_nothing():
    source, target = picture("astronaut"), picture("grace_hopper")
    score = score_pair(source, target, target, analyser())
    assert score["target_identity"] < 0.1
    assert score["identity"] == pytest.approx(score["source_target"], abs=0.1)
    assert score["source_target"] > 0.6
    assert score["ring"] == 1
    assert max(score[name] for name in ("eyes", "mouth", "landmarks")) < 0.02
    assert max(score[name] for name in ("yaw", "pitch", "roll")) < 2


def test_a_brighter_face_with_a_hard_edge_is_seen_in_the_ring():
    target = picture("grace_hopper")
    height, width = target.shape[:2]
    inside = face_mask(analyser().find(target)[0].landmarks, width, height)
    result = np.where(inside[..., None], np.clip(target.astype(int) + 40, 0, 255), target).astype(np.uint8)
    assert score_pair(target, target, result, analyser())["ring"] > 1.05


def test_a_clip_that_was_left_alone():
    clip = Clip(talking_head(still("astronaut"), width=320, height=240, seconds=1, rate=Fraction(12), angle=8))
    frames = list(clip.pictures())
    score = score_clip(picture("grace_hopper"), frames, frames, analyser())
    assert score["target_identity"] == pytest.approx(0, abs=0.1)
    assert score["identity"] > 0.5
    assert score["ring"] == score["ring_p90"] == score["warp_face"] == score["warp_ring"] == 1
    assert score["jitter"] == pytest.approx(1, abs=0.2)
    assert score["eyes_correlation"] > 0.9


def test_flicker_is_seen_in_the_face_alone():
    clip = Clip(talking_head(still("astronaut"), width=320, height=240, seconds=1, rate=Fraction(12), angle=8))
    frames = list(clip.pictures())
    flicker = [frame.copy() for frame in frames]
    for t, (frame, truth) in enumerate(zip(flicker, clip, strict=True)):
        left, top = truth.faces[0].landmarks[:, :2].min(0).astype(int)
        right, bottom = truth.faces[0].landmarks[:, :2].max(0).astype(int)
        inner = frame[top + 20 : bottom - 20, left + 20 : right - 20]
        inner[:] = np.clip(inner.astype(int) + 30 * (t % 2), 0, 255)
    score = score_clip(picture("grace_hopper"), frames, flicker, analyser())
    assert score["warp_face"] > 1.5
    assert score["warp_ring"] == pytest.approx(1, abs=0.03)


def test_summary_leaves_out_what_was_not_measured():
    found = summary([{"a": 1.0, "b": float("nan")}, {"a": 3.0, "b": 2.0}])
    assert found["a"] == 2
    assert found["a_p90"] == pytest.approx(2.8)
    assert found["b"] == 2
