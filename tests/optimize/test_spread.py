"""Which faces are taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.faces.face import Pose
from mien.optimize.spread import farthest_points, held_out, traits


def test_of_clusters_each_gives_one_before_any_gives_two():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(5, 3)) * 100
    points = np.concatenate([centre + rng.normal(size=(20, 3)) for centre in centres])
    assert {row // 20 for row in farthest_points(points, 5)} == set(range(5))


@given(st.integers(0, 12), st.integers(0, 15), st.integers(0, 5))
def test_rows_are_different_and_as_many_as_there_are(count: int, wanted: int, seed: int):
    points = np.random.default_rng(seed).integers(0, 2, (count, 2)).astype(float)  # many alike
    rows = farthest_points(points, wanted)
    assert len(set(rows)) == len(rows) == min(count, wanted)
    assert rows == farthest_points(points, wanted)


@pytest.mark.parametrize(("count", "out"), [(2, [1]), (3, [2]), (6, [2, 5]), (7, [2, 5])])
def test_every_third_is_held_out_and_never_all(count: int, out: list[int]):
    assert [row for row, apart in enumerate(held_out(count)) if apart] == out


def test_people_turns_and_light_count_alike():
    chip = np.full((150, 150, 3), 100, np.uint8)
    here = traits(np.zeros(128, np.float32), Pose(0, 0, 0), chip)
    other = np.zeros(128, np.float32)
    other[0] = 0.6
    for changed in (
        traits(other, Pose(0, 0, 0), chip),
        traits(np.zeros(128, np.float32), Pose(30, 0, 0), chip),
        traits(np.zeros(128, np.float32), Pose(0, -30, 0), chip),
        traits(np.zeros(128, np.float32), Pose(0, 0, 0), chip + np.uint8(64)),
    ):
        assert np.linalg.norm(changed - here) == pytest.approx(1, abs=1e-6)
