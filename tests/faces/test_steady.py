import numpy as np
import pytest

from mien.faces import mesh
from mien.faces.align import rotation_of
from mien.faces.face import Pose
from mien.faces.steady import DRIFTED, begin, corrected, follow

DT = 1 / 30
WIDTH = 15.3  # of the canonical mesh, cm
NOISE = 0.003  # face widths: what the landmarker shows on a still face


def landmarks(x: float, y: float, width: float, pose: Pose, blink: float = 0.0) -> np.ndarray:
    """(478, 3) of the canonical face."""
    shape = mesh.XYZ.copy()
    for eye in (mesh.LEFT_EYE, mesh.RIGHT_EYE):
        shape[eye[9:], 1] += blink * (shape[eye[1:8][::-1], 1] - shape[eye[9:], 1])
    points = shape * [1, -1, -1] @ rotation_of(pose).T * (width / WIDTH) + [x, y, 0]
    irises = np.repeat([points[mesh.RIGHT_EYE].mean(axis=0), points[mesh.LEFT_EYE].mean(axis=0)], 5, axis=0)
    return np.concatenate([points, irises]).astype(np.float32)


def noisy(points: np.ndarray, width: float, seed: int) -> np.ndarray:
    return (points + np.random.default_rng(seed).normal(0, NOISE * width, points.shape)).astype(np.float32)


def run(clip: list[np.ndarray], motion: np.ndarray | None = None) -> np.ndarray:
    """Steadied landmarks, with the true motion (frames - 1, 478, 3) as the flow, or without flow."""
    steady = begin(clip[0])
    result = [steady.landmarks]
    for index, points in enumerate(clip[1:]):
        carried = None if motion is None else steady.landmarks + motion[index]
        steady = follow(steady, points, DT, carried)
        result.append(steady.landmarks)
    return np.array(result)


def jitter(clip: np.ndarray) -> float:
    return float(np.sqrt(np.square(np.diff(clip[5:, :, :2], n=2, axis=0)).mean()))


def opening(clip: np.ndarray) -> np.ndarray:
    lids = np.linalg.norm(clip[:, 159, :2] - clip[:, 145, :2], axis=1)
    return lids / np.linalg.norm(clip[:, 33, :2] - clip[:, 133, :2], axis=1)


def test_starts_where_the_face_is():
    points = landmarks(400, 300, 180, Pose(20, -10, 160))
    np.testing.assert_allclose(begin(points).landmarks, points, atol=0.01)
    assert begin(landmarks(0, 0, 180, Pose(0, 0, 0))).width == pytest.approx(180, rel=0.02)


def test_a_still_face_gets_steadier_and_stays_in_place():
    truth = landmarks(400, 300, 200, Pose(10, 5, 20))
    clip = np.array([noisy(truth, 200, seed) for seed in range(60)])
    steadied = run(list(clip))
    assert jitter(steadied) < 0.4 * jitter(clip)
    assert abs(steadied[10:].mean(axis=0) - truth).max() < 0.5


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("pan", lambda t: (400 + 600 * t, 300, 200, Pose(0, 0, 0))),
        ("shake", lambda t: (400 + 40 * np.sin(12 * t), 300, 200, Pose(0, 0, 0))),
        ("roll", lambda t: (400, 300, 200, Pose(0, 0, 150 * t - 170))),
        ("zoom", lambda t: (400, 300, 200 * np.exp(0.8 * t), Pose(0, 0, 0))),
        ("turn", lambda t: (400, 300, 200, Pose(40 * np.sin(3 * t), 0, 0))),
    ],
)
def test_motion_does_not_smear(name: str, step):
    truth = [landmarks(*step(frame * DT)) for frame in range(50)]
    width = [step(frame * DT)[2] for frame in range(50)]
    steadied = run([noisy(points, size, seed) for seed, (points, size) in enumerate(zip(truth, width, strict=True))])
    off = np.linalg.norm((steadied - truth)[8:, :, :2], axis=2).mean(axis=1) / width[8:]
    # A hundredth of the face: on average, and at most two in the worst frame.
    assert off.mean() < 0.01, name
    assert off.max() < 0.02, name


def test_a_blink_passes():
    closed = np.zeros(50)
    closed[20:27] = 0.3, 0.8, 1, 1, 0.7, 0.4, 0.1
    truth = np.array([landmarks(400, 300, 200, Pose(0, 0, 0), blink) for blink in closed])
    clip = np.array([noisy(points, 200, seed) for seed, points in enumerate(truth)])
    wanted, found, steadied = opening(truth), opening(clip), opening(run(list(clip)))
    assert np.corrcoef(wanted, steadied)[0, 1] > np.corrcoef(wanted, found)[0, 1]
    assert abs(wanted - steadied).mean() < abs(wanted - found).mean()
    assert steadied[22:24].min() < 0.3 * steadied[:18].mean()


def test_the_expected_place_is_ahead_of_a_moving_face():
    clip = [landmarks(100 + 10 * frame, 300, 200, Pose(0, 0, 0)) for frame in range(20)]
    steady = begin(clip[0])
    for points in clip[1:]:
        steady = follow(steady, points, DT)
    following = landmarks(100 + 200, 300, 200, Pose(0, 0, 0))
    assert abs(steady.expected(DT) - following)[:, 0].max() < 2


def test_a_later_start_forgets_the_difference():
    truth = [landmarks(400 + 5 * f, 300 + 20 * np.sin(f / 4), 200, Pose(10 * np.sin(f / 9), 0, f)) for f in range(60)]
    clip = [noisy(points, 200, seed) for seed, points in enumerate(truth)]
    whole, late = run(clip), run(clip[28:])
    # Twelve frames on, the two differ by less than a twentieth of the noise that was filtered.
    assert abs(whole[40:] - late[12:])[:, :, :2].max() < 0.2


def test_carried_by_flow_a_moving_face_is_much_steadier():
    truth = np.array([landmarks(400 + 5 * f, 300, 200, Pose(10 * np.sin(f / 9), 0, f)) for f in range(60)])
    clip = [noisy(points, 200, seed) for seed, points in enumerate(truth)]
    alone, carried = run(clip), run(clip, np.diff(truth, axis=0))
    # All but eyes and mouth, whose own motion is the network's.
    rest = np.setdiff1d(
        np.arange(468), np.concatenate([mesh.LEFT_EYE, mesh.RIGHT_EYE, mesh.LIPS_INNER, mesh.LIPS_OUTER])
    )
    off, off_alone, off_found = (points[:, rest] - truth[:, rest] for points in (carried, alone, np.array(clip)))
    assert jitter(off) < 0.5 * jitter(off_alone)
    assert jitter(off) < 0.2 * jitter(off_found)
    assert np.linalg.norm(off, axis=2)[12:].mean() < 0.5 * np.linalg.norm(off_found, axis=2).mean()


def test_flow_that_drifts_is_held():
    truth = np.array([landmarks(400, 300, 200, Pose(0, 0, 0))] * 80)
    drift = np.full((79, 478, 3), [0.3, -0.2, 0], np.float32)
    off = np.linalg.norm(run(list(truth), drift) - truth, axis=2)
    assert off[-1].max() < 0.02 * 200
    assert off[-1].max() == pytest.approx(off[60].max(), rel=0.01)


def test_flow_that_is_wrong_is_overruled_where_it_is():
    truth = landmarks(400, 300, 200, Pose(0, 0, 0))
    wrong = 2.5 * DRIFTED[1] * 200
    points = truth.copy()
    points[truth[:, 0] > 440, 0] += wrong
    for _ in range(5):
        points = corrected(points, truth, 50)
    off = np.linalg.norm(points - truth, axis=1)
    assert off[truth[:, 0] > 470].max() < 0.35 * wrong
    # What is within what the network may err by is left to the slow correction.
    assert off[truth[:, 0] < 360].max() < 0.01


def test_a_blink_that_flow_misses_passes():
    closed = np.zeros(50)
    closed[20:27] = 0.3, 0.8, 1, 1, 0.7, 0.4, 0.1
    truth = np.array([landmarks(400, 300, 200, Pose(0, 0, 0), blink) for blink in closed])
    clip = [noisy(points, 200, seed) for seed, points in enumerate(truth)]
    steadied = run(clip, np.zeros((49, 478, 3), np.float32))
    found, kept = (np.corrcoef(opening(truth), opening(points))[0, 1] for points in (np.array(clip), steadied))
    assert kept > found - 0.02
    assert opening(steadied)[22:24].min() < 0.35 * opening(steadied)[:18].mean()


def test_a_later_start_forgets_the_difference_with_flow_as_well():
    truth = np.array([landmarks(400 + 5 * f, 300, 200, Pose(0, 0, f)) for f in range(60)])
    clip = [noisy(points, 200, seed) for seed, points in enumerate(truth)]
    motion = np.diff(truth, axis=0)
    whole, late = run(clip, motion), run(clip[28:], motion[28:])
    # Twelve frames on, the two differ by half of what the landmarker trembles.
    off = np.linalg.norm((whole[40:] - late[12:])[:, :, :2], axis=2)
    assert off.mean() < 0.5 * np.linalg.norm((np.array(clip) - truth)[:, :, :2], axis=2).mean()
