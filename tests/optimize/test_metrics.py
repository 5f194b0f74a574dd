"""Metrics and their intervals, against what is known of the answers."""

import math

import cv2
import numpy as np
import pytest

from mien.media.pictures import read_rgb
from mien.optimize.intervals import of_mean, of_paired_ratio, of_pairs, of_ratio
from mien.optimize.metrics import compare, flicker, lost_decibels, ssim
from mien.quality.fidelity import Answers
from optimize.nets import STILLS

RNG = np.random.default_rng(1)


def named(metrics, name: str):
    return next(metric for metric in metrics if metric.name == name)


def test_an_interval_of_a_mean_holds_it_about_as_often_as_it_says():
    inside = [(one := of_mean(RNG.normal(3, 1, 30))).low <= 3 <= one.high for _ in range(200)]
    assert 0.88 <= np.mean(inside) <= 0.99


def test_intervals_are_repeatable_and_narrow_with_more_items():
    few, many = RNG.normal(size=10), RNG.normal(size=1000)
    assert of_mean(few) == of_mean(few)
    assert of_mean(many).high - of_mean(many).low < of_mean(few).high - of_mean(few).low
    assert of_mean([math.inf, 1.0]).high == math.inf


def test_side_by_side_what_meets_both_cancels():
    below = np.exp(RNG.normal(0, 1, 40))  # The machine is now three times as fast, now a third.
    ratio = of_paired_ratio(2 * below, below)
    assert (ratio.low, ratio.high) == pytest.approx((2, 2))
    assert of_ratio([4.0] * 5, [2.0] * 5).value == 2
    apart = of_ratio(2 * below, below)
    assert apart.low < 2 < apart.high


def test_pairs_are_the_upper_triangle():
    matrix = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], float)
    assert of_pairs(matrix).value == 2
    assert 1 <= of_pairs(matrix).low <= of_pairs(matrix).high <= 3


def test_embeddings_that_turn_together_keep_their_distances():
    exact = RNG.normal(size=(6, 8))
    turn = np.linalg.qr(RNG.normal(size=(8, 8)))[0]
    metrics = compare(Answers("embedding", exact), Answers("embedding", exact @ turn), same_under=0.6)
    assert named(metrics, "distance error").worst < 1e-12
    assert named(metrics, "equal decisions").value == 1
    assert named(metrics, "cosine").worst < 0.9
    assert named(metrics, "distance error").items == 15


def test_a_decision_that_changes_is_counted():
    exact = np.array([[0.0, 0], [0.55, 0], [5, 0]])
    other = np.array([[0.0, 0], [0.65, 0], [5, 0]])
    metrics = compare(Answers("embedding", exact + 1), Answers("embedding", other + 1), same_under=0.6)
    assert named(metrics, "equal decisions").value == pytest.approx(2 / 3)
    assert named(metrics, "distance error").value == pytest.approx((0.1 + 0.1) / 3)


def test_a_pair_on_the_border_decides_nothing():
    exact, other = (Answers("embedding", np.array([[1.0, 0], [1 + apart, 0]])) for apart in (0.595, 0.605))
    assert named(compare(exact, other, same_under=0.6), "equal decisions").value == 1


def test_landmarks_are_measured_in_pixels():
    exact = RNG.normal(size=(3, 10, 2))
    moved = exact + np.array([[[3.0, 4.0]], [[0, 0]], [[0, 0]]])
    metrics = compare(Answers("landmarks", exact), Answers("landmarks", moved))
    assert named(metrics, "landmark shift").value == pytest.approx(5 / 3)
    assert named(metrics, "landmark shift").worst == pytest.approx(5)


@pytest.mark.parametrize("kind", ["picture", "embedding", "landmarks", "labels"])
def test_answers_of_another_number_or_that_are_none_are_as_bad_as_can_be(kind):
    shape = {"picture": (2, 16, 16, 3), "embedding": (2, 8), "landmarks": (2, 5, 2), "labels": (2, 4)}[kind]
    exact = Answers(kind, np.ones(shape))
    for other in (Answers(kind, np.ones(shape)[:1]), Answers(kind, np.full(shape, np.nan))):
        first = compare(exact, other)[0]
        assert first.worst in (0.0, -1.0) if first.higher_is_better else first.worst == math.inf


def test_ssim_is_one_of_equal_pictures_and_falls_with_blur_and_noise():
    picture = read_rgb(STILLS / "grace_hopper.jpg")[:128, :128] / 255.0
    blurred = cv2.GaussianBlur(picture, (0, 0), 2)
    noisy = np.clip(picture + RNG.normal(0, 0.1, picture.shape), 0, 1)
    assert ssim(picture, picture) == pytest.approx(1)
    assert ssim(picture, blurred) < 0.95
    assert ssim(picture, noisy) < 0.8
    # A shift of brightness hurts less than noise of the same size, unlike PSNR.
    assert ssim(picture, picture * 0.9 + 0.05) > ssim(picture, noisy)


def test_what_is_lost_is_counted_from_the_truth():
    truth = np.full((2, 8, 8, 3), 0.5)
    metric = lost_decibels(truth, truth + 0.01, truth + 0.02)
    assert metric.value == pytest.approx(20 * math.log10(2))
    assert lost_decibels(truth, truth + 0.02, truth - 0.01).value == pytest.approx(-20 * math.log10(2))


def test_flicker_is_what_is_added_to_even_motion():
    steps = np.arange(5)[:, None, None, None] * np.ones((1, 2, 30, 2)) * 0.3
    still = [Answers("landmarks", step) for step in steps]
    shaken = [Answers("landmarks", step + RNG.normal(0, 0.2, step.shape)) for step in steps]
    twice = [Answers("landmarks", 2 * one.values - step) for one, step in zip(shaken, steps, strict=True)]
    assert flicker(still, still).value == pytest.approx(1)  # even motion is no flicker
    assert flicker(still, shaken).value > 10
    assert flicker(shaken, twice).value == pytest.approx(2, rel=0.05)
    assert flicker(still, [*shaken[:-1], Answers("landmarks", steps[0][:1])]).value == math.inf
    assert flicker([Answers("embedding", np.ones((1, 8)))] * 5, [Answers("embedding", np.ones((1, 8)))] * 5) is None
