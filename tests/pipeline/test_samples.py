"""Which frames are measured, and that steadiness is that of the points measured."""

from __future__ import annotations

import numpy as np
import pytest

from mien.faces.face import Face, Pose
from mien.geometry import Rect
from mien.pipeline.samples import IDENTITY_SAMPLES, Monitor, Sample, SamplePlan, spread
from mien.pipeline.scene import FaceEdit
from mien.pipeline.tally import Tally
from support.doubles import MemoryFrame, tracked


@pytest.mark.parametrize(("length", "count"), [(1, 1), (10, 3), (10, 10), (1000, 12), (0, 3), (2, 5)])
def test_spread_is_even_and_inside(length: int, count: int) -> None:
    indices = spread(length, count)
    assert len(indices) == min(length, count)
    assert all(0 <= index < length for index in indices)
    gaps = np.diff([-indices[0] - 1, *indices, 2 * length - indices[-1] - 1]) if indices else np.array([0])
    assert gaps.max() - gaps.min() <= 2


def test_a_long_video_has_few_samples_and_a_short_one_one_a_second() -> None:
    assert len(SamplePlan.spread(30 * 600, 30).identity) == IDENTITY_SAMPLES
    assert len(SamplePlan.spread(30 * 5, 30).identity) == 5
    assert len(SamplePlan.spread(3, 30).identity) == 1


class _Fixed:
    """Says that the landmarks are where they were looked for, and that brightness is identity."""

    def __init__(self, yaw: float = 0.0) -> None:
        self.pose = Pose(yaw, 0.0, 0.0)

    def landmarks(self, picture: np.ndarray, previous: list[np.ndarray]) -> list[Face]:
        # The level of the picture moves the points: what an unsteady edit does.
        return [
            Face(
                np.zeros(4, np.float32),
                1.0,
                points + np.float32([picture[0, 0, 0] / 10, 0, 0]),
                self.pose,
            )
            for points in previous
        ]

    def embed(self, picture: np.ndarray, faces: list[Face]) -> np.ndarray:
        return np.full((len(faces), 128), picture.mean() / 255, np.float32)


def _sample(x: float, before: int, after: int, *, identity: bool = False, steady: bool = False) -> Sample:
    pictures = [MemoryFrame(0, np.full((8, 8), level, np.uint8)).display() for level in (before, after)]
    return Sample(FaceEdit(tracked(x, 4), 0, Rect(1, 2, 8, 8)), pictures[0], pictures[1], identity, steady)


def test_identity_is_the_distance_to_source_and_to_the_face_before() -> None:
    monitor, tally = Monitor(_Fixed(), {0: np.zeros(128, np.float32)}), Tally()
    monitor.measure(0, [_sample(4, before=255, after=51, identity=True)], tally)
    assert tally.source_distances == [pytest.approx(0.2 * 128**0.5)]
    assert tally.target_distances == [pytest.approx(0.8 * 128**0.5)]


@pytest.mark.parametrize(
    ("level", "yaw", "reasons"),
    [
        (12, 0, []),  # .05 of brightness is a distance of .53, .06 one of .67
        (15, 0, ["unlike-source"]),
        (15, 40, ["unlike-source", "turned"]),
        (12, 40, []),
    ],
)
def test_a_face_that_is_not_like_the_source_is_flagged_with_the_reason(
    level: int, yaw: float, reasons: list[str]
) -> None:
    monitor, tally = Monitor(_Fixed(yaw), {0: np.zeros(128, np.float32)}), Tally()
    tally.add(7, 0.28, [])
    monitor.measure(7, [_sample(4, before=255, after=level, identity=True)], tally)
    assert [(flag.frame, flag.time_s, flag.reason) for flag in tally.flagged] == [(7, 0.28, why) for why in reasons]


def test_steady_points_have_no_jitter_and_moving_ones_that_of_their_second_difference() -> None:
    monitor, tally = Monitor(_Fixed(), {}), Tally()
    for index, level in enumerate((0, 10, 0)):  # The edit moves the points by 0, 1, 0 pixels.
        monitor.measure(index, [_sample(4 + index, before=0, after=level, steady=True)], tally)
    assert tally.jitter_before == pytest.approx(0, abs=1e-6)
    assert tally.jitter_after == pytest.approx(478 * 2.0**2)


def test_frames_that_do_not_follow_each_other_are_no_motion() -> None:
    monitor, tally = Monitor(_Fixed(), {}), Tally()
    for index, level in ((0, 0), (1, 100), (5, 0), (6, 100)):
        monitor.measure(index, [_sample(4, before=0, after=level, steady=True)], tally)
    assert tally.jitter_after == 0
