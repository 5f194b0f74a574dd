import numpy as np
import pytest

from mien.engine.batcher import Batcher
from mien.engine.leased import LeasedSession
from mien.engine.residency import Residency
from mien.engine.session import Session
from mien.errors import UsageError
from support.memory import Doubler


def leased(residency: Residency[Session], key: str, loads: list[str], expected: int = 60) -> LeasedSession:
    def load() -> Doubler:
        loads.append(key)
        return Doubler()

    return LeasedSession(residency, key, load, expected_bytes=expected)


BATCH = {"x": np.ones((3, 1), np.float32)}


def test_networks_that_do_not_fit_together_take_turns_and_keep_their_totals():
    residency: Residency[Session] = Residency(100, meter=None)
    loads: list[str] = []
    first, second = leased(residency, "a", loads), leased(residency, "b", loads)
    assert loads == []
    for network in (first, first, second, first):
        np.testing.assert_array_equal(network.run(BATCH)["y"], 2 * BATCH["x"])
    assert loads == ["a", "b", "a"]
    assert (first.usage.calls, first.usage.items) == (3, 9)
    assert (second.usage.calls, second.usage.items) == (1, 3)
    assert first.usage.seconds > 0


def test_what_ran_is_known_also_before_the_first_run_and_after_it_left():
    residency: Residency[Session] = Residency(100, meter=None)
    loads: list[str] = []
    network = leased(residency, "a", loads)
    assert network.ran == Doubler.ran
    residency.clear()
    assert network.ran == Doubler.ran
    assert loads == ["a"]


def test_one_that_does_not_fit_is_refused():
    network = leased(Residency(100, meter=None), "a", [], expected=101)
    with pytest.raises(UsageError, match="give at least 101B"):
        network.run(BATCH)


def test_a_batcher_goes_on_while_its_network_comes_and_goes():
    residency: Residency[Session] = Residency(100, meter=None)
    loads: list[str] = []
    with Batcher(leased(residency, "a", loads)) as batcher:
        for _ in range(2):
            np.testing.assert_array_equal(batcher.run("job", BATCH)["y"], 2 * BATCH["x"])
            residency.clear()
    assert loads == ["a", "a"]
