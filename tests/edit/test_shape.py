"""Whose proportions, whose expression."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mien.edit import shape
from mien.faces.align import head_placement, to_canonical
from mien.quality.metrics import opening
from support.animate import Clip
from support.people import NAMES, still
from support.scenes import talking_head
from support.swapping import face_of

Floats = NDArray[np.float32]


def canonical(name: str) -> Floats:
    return to_canonical(face_of(name).landmarks)


@pytest.mark.parametrize("target", NAMES)
def test_strength_zero_changes_nothing(target: str) -> None:
    face = canonical(target)
    np.testing.assert_allclose(shape.carry(canonical("astronaut"), face, face, 0.0), face, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_person_with_their_own_proportions_stays_as_they_are(name: str) -> None:
    face = canonical(name)
    neutral = shape.neutral(face)
    moved = np.linalg.norm(shape.carry(neutral, face, neutral, 1.0) - face, axis=1)
    assert moved.mean() < 0.06  # cm
    assert moved.max() < 0.8


@pytest.mark.parametrize(("source", "target"), [("astronaut", "grace_hopper"), ("luispedro", "astronaut")])
def test_the_openings_are_the_targets(source: str, target: str) -> None:
    face = canonical(target)
    result = shape.carry(shape.neutral(canonical(source)), face, shape.neutral(face), 1.0)
    before, after = opening(face), opening(result)
    np.testing.assert_allclose(after.eyes, before.eyes, atol=0.02)
    assert after.mouth == pytest.approx(before.mouth, abs=0.03)


def test_the_result_is_nearer_to_the_sources_proportions() -> None:
    source, target = shape.neutral(canonical("luispedro")), canonical("grace_hopper")
    result = shape.carry(source, target, shape.neutral(target), 1.0)

    def length_over_width(face: Floats) -> float:
        return float(np.linalg.norm(face[10] - face[152]) / np.linalg.norm(face[234] - face[454]))

    wanted, before = length_over_width(source), length_over_width(target)
    assert abs(length_over_width(result) - wanted) < 0.35 * abs(before - wanted)


def test_the_head_is_not_turned() -> None:
    target = canonical("luispedro")
    result = shape.carry(canonical("astronaut"), target, shape.neutral(target), 1.0)
    picture_axes = np.array([1, -1, -1], np.float32)
    turn = [head_placement(face * picture_axes).rotation for face in (target, result)]
    angle = np.degrees(np.arccos(np.clip((np.trace(turn[0].T @ turn[1]) - 1) / 2, -1, 1)))
    assert angle < 2


def test_blinks_and_talking_are_carried_over_a_clip() -> None:
    clip = Clip(talking_head(still("astronaut"), width=320, height=240, seconds=1.2))
    faces = [to_canonical(points) for frame in clip if (points := frame.faces[0].landmarks) is not None]
    neutral = np.mean(faces, axis=0).astype(np.float32)
    source = shape.neutral(canonical("grace_hopper"))
    results = [shape.carry(source, face, neutral, 1.0) for face in faces]
    before, after = (opening(np.stack(track)) for track in (faces, results))
    assert np.corrcoef(before.eyes.mean(axis=1), after.eyes.mean(axis=1))[0, 1] > 0.98
    assert np.corrcoef(before.mouth, after.mouth)[0, 1] > 0.98


def test_a_running_neutral_face_settles_on_the_mean() -> None:
    noise = np.random.default_rng(3)
    face = canonical("luispedro")
    running = shape.RunningNeutral()
    for _ in range(200):
        learnt = running.update((face + noise.normal(0, 0.05, face.shape)).astype(np.float32))
    assert np.abs(learnt - shape.neutral(face)).mean() < 0.01
