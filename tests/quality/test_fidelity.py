import math

import numpy as np
import pytest

from mien.errors import UsageError
from mien.quality.fidelity import Answers, compare

RNG = np.random.default_rng(0)
PICTURES = RNG.random((3, 32, 32, 3))
VECTORS = RNG.normal(size=(4, 128))
POINTS = RNG.random((2, 68, 2)) * 192
LABELS = RNG.integers(0, 19, (2, 64, 64))


def noisy(decibels: float) -> np.ndarray:
    """The pictures with an error of exactly so much in the last one, the same size everywhere."""
    error = np.zeros_like(PICTURES)
    error[-1] = 10 ** (-decibels / 20) * RNG.choice([-1, 1], error[-1].shape)
    return PICTURES + error


def turned(cosine: float) -> np.ndarray:
    """The vectors, the second one turned by an angle of this cosine."""
    vectors = VECTORS.copy()
    aside = RNG.normal(size=128)
    aside -= aside @ vectors[1] / (vectors[1] @ vectors[1]) * vectors[1]
    aside *= np.linalg.norm(vectors[1]) / np.linalg.norm(aside)
    vectors[1] = cosine * vectors[1] + math.sqrt(1 - cosine**2) * aside
    return vectors


def shifted(pixels: float) -> np.ndarray:
    points = POINTS.copy()
    points[1] += np.array([0.6, 0.8]) * pixels
    return points


def mislabelled(share: float) -> np.ndarray:
    labels = LABELS.copy()
    labels[0].flat[: round(share * labels[0].size)] += 1
    return labels


@pytest.mark.parametrize(
    ("kind", "exact", "other", "figure", "passed"),
    [
        ("picture", PICTURES, PICTURES, math.inf, True),
        ("picture", PICTURES, noisy(38.5), 38.5, True),
        ("picture", PICTURES, noisy(37.5), 37.5, False),
        ("embedding", VECTORS, VECTORS, 1, True),
        ("embedding", VECTORS, 3 * VECTORS, 1, True),
        ("embedding", VECTORS, turned(0.9991), 0.9991, True),
        ("embedding", VECTORS, turned(0.9989), 0.9989, False),
        ("landmarks", POINTS, POINTS, 0, True),
        ("landmarks", POINTS, shifted(0.49), 0.49, True),
        ("landmarks", POINTS, shifted(0.51), 0.51, False),
        ("labels", LABELS, LABELS, 1, True),
        ("labels", LABELS, mislabelled(0.004), 0.996, True),
        ("labels", LABELS, mislabelled(0.006), 0.994, False),
    ],
)
def test_the_worst_item_decides(kind, exact, other, figure, passed):
    fidelity = compare(Answers(kind, exact), Answers(kind, other))
    assert fidelity.figure == pytest.approx(figure, abs=2e-4)
    assert fidelity.passed == passed
    assert fidelity.items == len(exact)


def test_figures_are_the_ones_of_their_kind():
    picture = compare(Answers("picture", PICTURES), Answers("picture", noisy(40)))
    assert picture.psnr_db == pytest.approx(40)
    assert picture.max_error == pytest.approx(0.01)
    assert "40.0 dB" in str(picture)
    landmarks = compare(Answers("landmarks", POINTS), Answers("landmarks", shifted(2)))
    assert landmarks.psnr_db is None
    assert landmarks.max_error == pytest.approx(2)
    assert "2.000 px" in str(landmarks)


def test_specks_fail_however_near_the_rest_is():
    exact = np.full((1, 256, 256, 3), 0.1)
    other = exact.copy()
    other[0, 100, 100] = 0.9
    fidelity = compare(Answers("picture", exact), Answers("picture", other))
    assert fidelity.figure > 45
    assert not fidelity.passed


@pytest.mark.parametrize("kind", ["picture", "embedding", "landmarks", "labels"])
def test_a_face_that_is_lost_is_a_failure(kind: str):
    exact = {"picture": PICTURES, "embedding": VECTORS, "landmarks": POINTS, "labels": LABELS}[kind]
    fidelity = compare(Answers(kind, exact), Answers(kind, exact[1:]))  # type: ignore[arg-type]
    assert not fidelity.passed
    assert str(fidelity)


def test_what_is_no_number_is_a_failure():
    broken = PICTURES.copy()
    broken[0, 0, 0, 0] = np.nan
    assert not compare(Answers("picture", PICTURES), Answers("picture", broken)).passed


def test_nothing_to_compare_is_an_error():
    with pytest.raises(UsageError, match="finds nothing in these pictures even in float32"):
        compare(Answers("landmarks", POINTS[:0]), Answers("landmarks", POINTS[:0]))
