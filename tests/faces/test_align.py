import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.faces import mesh
from mien.faces.align import (
    Similarity,
    from_canonical,
    head_placement,
    head_pose,
    pose_of,
    rotation_of,
    similarity,
    similarity_2d,
    to_canonical,
)
from mien.faces.face import Pose

IN_PICTURE = mesh.XYZ * np.array([1, -1, -1], np.float32)
NOSE_TIP, FOREHEAD, CHIN = 1, 10, 152


def seen(pose: Pose, scale: float = 20.0, shift: tuple[float, float, float] = (300, 200, 0)) -> np.ndarray:
    """The canonical face in a picture, turned."""
    return IN_PICTURE @ rotation_of(pose).T * scale + np.array(shift, np.float32)


angles = st.floats(-80, 80)


@given(angles, angles, st.floats(-179, 179), st.floats(0.5, 60))
def test_the_pose_of_a_turned_face_is_the_turn(yaw: float, pitch: float, roll: float, scale: float):
    found = head_pose(seen(Pose(yaw, pitch, roll), scale))
    np.testing.assert_allclose(found, (yaw, pitch, roll), atol=0.1)


def test_positive_yaw_points_the_nose_to_the_right_of_the_picture():
    straight, turned = seen(Pose(0, 0, 0)), seen(Pose(30, 0, 0))
    middle = turned.mean(axis=0)[0] - straight.mean(axis=0)[0]
    assert turned[NOSE_TIP, 0] - straight[NOSE_TIP, 0] - middle > 20


def test_positive_pitch_points_the_nose_down():
    straight, turned = seen(Pose(0, 0, 0)), seen(Pose(0, 30, 0))
    assert turned[NOSE_TIP, 1] > straight[NOSE_TIP, 1] + 20


def test_positive_roll_turns_clockwise():
    turned = seen(Pose(0, 0, 90))
    # Clockwise by a quarter: the top of the head points to the right.
    assert turned[FOREHEAD, 0] > turned[CHIN, 0] + 100
    assert abs(turned[FOREHEAD, 1] - turned[CHIN, 1]) < 1


def test_roll_comes_last_so_that_yaw_is_the_heads_own():
    lying = seen(Pose(0, 0, 90))
    upright = seen(Pose(25, 0, 0))
    quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.float32)
    laid_down = (upright - [300, 200, 0]) @ quarter.T + [300, 200, 0]
    np.testing.assert_allclose(head_pose(lying), (0, 0, 90), atol=0.1)
    np.testing.assert_allclose(head_pose(laid_down.astype(np.float32)), (25, 0, 90), atol=0.1)


@given(angles, angles, st.floats(-179, 179))
def test_pose_and_rotation_are_inverse(yaw: float, pitch: float, roll: float):
    np.testing.assert_allclose(pose_of(rotation_of(Pose(yaw, pitch, roll))), (yaw, pitch, roll), atol=0.02)


@pytest.mark.parametrize(("fit", "dimensions"), [(similarity_2d, 2), (similarity, 3)])
def test_a_similarity_is_found_again(fit, dimensions: int):
    generator = np.random.default_rng(1)
    rotation = np.linalg.qr(generator.normal(size=(dimensions, dimensions)))[0]
    rotation[:, 0] *= np.sign(np.linalg.det(rotation))
    source = generator.normal(size=(40, dimensions)).astype(np.float32)
    target = 3.5 * source @ rotation.T + generator.normal(size=dimensions)
    found = fit(source, target.astype(np.float32))
    assert found.scale == pytest.approx(3.5, rel=1e-4)
    np.testing.assert_allclose(found.rotation, rotation, atol=1e-4)
    np.testing.assert_allclose(found.apply(source), target, atol=1e-4)
    np.testing.assert_allclose(found.inverse().apply(found.apply(source)), source, atol=1e-4)
    np.testing.assert_allclose(found.matrix @ np.append(source[0], 1), target[0], atol=1e-4)


def test_a_similarity_never_mirrors():
    source = np.random.default_rng(2).normal(size=(30, 2)).astype(np.float32)
    found = similarity_2d(source, source * np.array([-1, 1], np.float32))
    assert np.linalg.det(found.rotation) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("fit", "dimensions"), [(similarity_2d, 2), (similarity, 3)])
def test_weights_say_which_points_count(fit, dimensions: int):
    source = np.random.default_rng(3).normal(size=(20, dimensions)).astype(np.float32)
    target = source + 1
    target[0] += 100
    weights = np.ones(20, np.float32)
    weights[0] = 0
    np.testing.assert_allclose(fit(source, target, weights).apply(source)[1:], target[1:], atol=1e-4)


def test_in_the_plane_it_is_the_best_there_is():
    generator = np.random.default_rng(5)
    source = generator.normal(size=(30, 2)).astype(np.float32)
    target = (1.7 * source @ rotation_of(Pose(0, 0, 50))[:2, :2].T + generator.normal(0, 0.3, (30, 2))).astype(
        np.float32
    )
    found = similarity_2d(source, target)

    def error(scale: float, degrees: float) -> float:
        turn = rotation_of(Pose(0, 0, degrees))[:2, :2]
        placed = scale * source @ turn.T
        return float(np.square(placed - placed.mean(axis=0) - target + target.mean(axis=0)).sum())

    angle = np.degrees(np.arctan2(found.rotation[1, 0], found.rotation[0, 0]))
    best = error(found.scale, angle)
    for change in (-0.01, 0.01):
        assert error(found.scale + change, angle) > best
        assert error(found.scale, angle + 30 * change) > best


def test_a_face_without_its_pose_is_the_same_from_every_side():
    generator = np.random.default_rng(4)
    own = mesh.XYZ + generator.normal(0, 0.1, mesh.XYZ.shape).astype(np.float32)
    placement = Similarity(12.0, rotation_of(Pose(35, -20, 140)), np.array([400, 300, 5], np.float32))
    landmarks = from_canonical(own, placement)
    straight = from_canonical(own, Similarity(3.0, np.eye(3, dtype=np.float32), np.zeros(3, np.float32)))
    np.testing.assert_allclose(to_canonical(landmarks), to_canonical(straight), atol=1e-3)
    np.testing.assert_allclose(from_canonical(own, placement), landmarks, atol=1e-3)
    np.testing.assert_allclose(from_canonical(to_canonical(landmarks), head_placement(landmarks)), landmarks, atol=1e-2)
