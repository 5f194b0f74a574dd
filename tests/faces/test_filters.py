import math

import numpy as np
import pytest

from mien.faces.filters import Filtered, OneEuro, advance, ahead, smoothing, start

DT = 1 / 30


def run(values: list[float], settings: OneEuro) -> np.ndarray:
    state = start(np.array([values[0]], np.float32))
    result = [values[0]]
    for value in values[1:]:
        state = advance(state, np.array([value], np.float32), DT, settings)
        result.append(float(state.value[0]))
    return np.array(result)


@pytest.mark.parametrize(
    ("cutoff_hz", "dt_s", "weight"),
    [(0.0, DT, 0.0), (1.0, 1 / (2 * math.pi), 0.5), (1e9, DT, 1.0), (3.0, 1 / (2 * math.pi), 0.75)],
)
def test_the_weight_of_a_new_value(cutoff_hz: float, dt_s: float, weight: float):
    assert smoothing(cutoff_hz, dt_s) == pytest.approx(weight, abs=1e-6)


@pytest.mark.parametrize("lead", [0.0, 0.5, 1.0])
def test_what_stands_still_stays_exactly(lead: float):
    assert run([7.0] * 20, OneEuro(1.0, 5.0, lead=lead)).tolist() == [7.0] * 20


def test_a_step_is_an_exponential_without_gain():
    weight = float(smoothing(2.0, DT))
    expected = 1 - (1 - weight) ** np.arange(20)
    np.testing.assert_allclose(run([0.0] + [1.0] * 19, OneEuro(2.0, 0.0)), expected, atol=1e-5)


def test_speed_opens_the_filter():
    ramp = [0.1 * step for step in range(40)]
    slow, quick = run(ramp, OneEuro(1.0, 0.0)), run(ramp, OneEuro(1.0, 10.0))
    assert ramp[-1] - quick[-1] < 0.2 * (ramp[-1] - slow[-1])


def test_a_full_lead_has_no_lag_in_steady_motion():
    ramp = [0.1 * step for step in range(60)]
    led = run(ramp, OneEuro(1.0, 0.0, lead=1.0))
    assert abs(led[-1] - ramp[-1]) < 0.02 < abs(run(ramp, OneEuro(1.0, 0.0))[-1] - ramp[-1])


def test_noise_at_rest_is_reduced():
    noise = np.random.default_rng(0).normal(0, 0.01, 200).tolist()
    assert np.std(run(noise, OneEuro(1.0, 1.0))[10:]) < 0.5 * np.std(noise)


def test_the_magnitude_decides_what_moves_together():
    settings = OneEuro(0.5, 20.0)
    together = advance(
        Filtered(np.zeros(2, np.float32), np.zeros(2, np.float32)),
        np.array([1.0, 0.01], np.float32),
        DT,
        settings,
        lambda speed: float(np.linalg.norm(speed)),
    )
    alone = advance(start(np.zeros(2, np.float32)), np.array([1.0, 0.01], np.float32), DT, settings)
    # The slow element follows as fast as the quick one, because they are one motion.
    assert together.value[1] / 0.01 == pytest.approx(together.value[0], rel=1e-4)
    assert alone.value[1] / 0.01 < alone.value[0]


def test_looking_ahead():
    state = Filtered(np.array([2.0], np.float32), np.array([3.0], np.float32))
    assert ahead(state, 0.5) == pytest.approx(3.5)
