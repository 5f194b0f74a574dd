"""The gate as a table."""

import math

import pytest

from mien.optimize.gate import BARS, judge
from mien.optimize.intervals import Interval
from mien.optimize.metrics import Metric

HIGH = {"cosine", "equal decisions", "equal labels", "PSNR", "SSIM"}


def metric(name: str, value: float, *, low: float | None = None, high: float | None = None, worst: float | None = None):
    bounds = (value if one is None else one for one in (low, high, worst))
    return Metric(name, "", value, *bounds, name in HIGH, 8)


def speed(value: float, low: float | None = None, high: float | None = None) -> Interval:
    return Interval(value, low or value, high or value)


GOOD = (metric("cosine", 0.9999), metric("distance error", 0.01), metric("equal decisions", 1.0))


@pytest.mark.parametrize(
    ("metrics", "fast", "shrinking", "outcome", "words"),
    [
        (GOOD, speed(2), 2.0, "passed", "2.00 times the parent's speed"),
        (GOOD, speed(1), 4.0, "passed", "4.00 times smaller"),
        (GOOD, speed(2), 1.0, "passed", ""),
        (GOOD, speed(1), 1.0, "does not pay", "nothing is gained"),
        (GOOD, speed(1.3, 0.9, 1.6), 1.0, "does not pay", "0.90 to 1.60"),  # It may be faster, and may be not.
        (GOOD, speed(0.5), 4.0, "does not pay", "slower"),
        (GOOD, speed(0.9, 0.8, 1.1), 4.0, "passed", ""),  # It may be as fast, and is smaller.
        ((), speed(2), 4.0, "refused", "nothing was measured"),
        ((metric("of no bar", 1.0),), speed(2), 4.0, "refused", "nothing was measured"),
        # Good on average, but one face is lost.
        ((metric("cosine", 0.9999, worst=0.9),), speed(2), 4.0, "refused", "cosine 0.9"),
        # Good on the faces seen, but the next ones may not be.
        ((metric("distance error", 0.02, high=0.04),), speed(2), 4.0, "refused", "with 95 % confidence"),
        ((metric("equal decisions", 0.999, worst=0.0),), speed(2), 4.0, "refused", "equal decisions"),
        ((metric("PSNR", 50, worst=30),), speed(2), 4.0, "refused", "PSNR 30"),
        # An enlarger is compared with the truth: far from its parent may be good enough, and near may be not.
        ((metric("PSNR lost", 0.1), metric("PSNR", 30), metric("SSIM", 0.5)), speed(2), 4.0, "passed", ""),
        ((metric("PSNR lost", 0.3), metric("PSNR", 60)), speed(2), 4.0, "refused", "PSNR lost"),
        ((metric("PSNR lost", 0.1), metric("largest error", 0.1, worst=0.9)), speed(2), 4.0, "refused", "largest"),
        ((metric("landmark shift", 0.1), metric("flicker", 1.3)), speed(2), 4.0, "refused", "flicker"),
        ((metric("landmark shift", math.inf),), speed(2), 4.0, "refused", "inf"),
    ],
)
def test_the_gate(metrics, fast: Interval, shrinking: float, outcome: str, words: str):
    verdict = judge(metrics, fast, shrinking)
    assert verdict.outcome == outcome
    assert verdict.passed == (outcome == "passed")
    assert words in "; ".join(verdict.reasons)


@pytest.mark.parametrize("name", BARS)
def test_every_bar_is_reached_exactly_and_missed_by_a_little(name: str):
    bound = BARS[name].bound
    away = -1e-6 if name in HIGH else 1e-6
    assert judge([metric(name, bound)], speed(2), 2.0).passed
    assert judge([metric(name, bound + away)], speed(2), 2.0).outcome == "refused"
