import pytest

from mien.faces.face import Pose
from mien.faces.fading import approach, flags, ramp, visible_part


@pytest.mark.parametrize(
    ("pose", "score", "visible"),
    [
        (Pose(0, 0, 0), 1.0, 1.0),
        (Pose(40, 0, 170), 1.0, 1.0),
        (Pose(-50, 0, 0), 1.0, 0.5),
        (Pose(60, 0, 0), 1.0, 0.0),
        (Pose(0, -42.5, 0), 1.0, 0.5),
        (Pose(0, 0, 0), 0.2, 0.0),
        (Pose(0, 0, 0), 0.55, 0.5),
    ],
)
def test_how_much_of_a_face_shows(pose: Pose, score: float, visible: float):
    assert visible_part(pose, score) == pytest.approx(visible, abs=1e-6)


def test_a_ramp_rises_smoothly_either_way():
    rising = [ramp(value, 0, 10) for value in range(-2, 13)]
    assert rising == sorted(rising)
    assert rising[0] == 0
    assert rising[-1] == 1
    assert rising == pytest.approx([ramp(10 - value, 10, 0) for value in range(-2, 13)])


def test_fades_take_three_frames():
    fade = 0.0
    steps = []
    for _ in range(4):
        fade = approach(fade, 1.0)
        steps.append(fade)
    assert steps == pytest.approx([1 / 3, 2 / 3, 1, 1])
    assert approach(1.0, 0.0) == pytest.approx(2 / 3)
    assert approach(0.5, 0.6) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("pose", "score", "missed", "velocity", "expected"),
    [
        (Pose(10, 5, 120), 0.99, 0, 0.05, ()),
        (Pose(-70, 0, 0), 0.99, 0, 0, ("profile",)),
        (Pose(0, 50, 0), 0.6, 0, 0, ("profile", "low-score")),
        (Pose(0, 0, 0), 0.1, 2, 0.4, ("low-score", "lost", "fast")),
    ],
)
def test_why_a_frame_needs_a_look(pose: Pose, score: float, missed: int, velocity: float, expected: tuple[str, ...]):
    assert flags(pose, score, missed, velocity) == expected
