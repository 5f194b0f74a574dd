from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mien.engine.pool import Pool
from mien.engine.residency import Residency
from mien.engine.session import Session
from mien.errors import EngineError
from support.memory import Doubler


def batch(*values: float) -> dict[str, np.ndarray]:
    return {"x": np.array(values, np.float32).reshape(-1, 1)}


@pytest.fixture
def residency() -> Residency[Session]:
    return Residency(100, meter=None)


def test_jobs_share_networks_under_one_budget_and_have_totals_of_their_own(residency: Residency[Session]):
    loads: list[str] = []

    def load(key: str) -> Doubler:
        loads.append(key)
        return Doubler()

    def work(job: int) -> list[float]:
        detector = pool.session(str(job), "detector", lambda: load("detector"), expected_bytes=30)
        swapper = pool.session(str(job), "swapper", lambda: load("swapper"), expected_bytes=70)
        found: list[float] = []
        for value in range(20):
            detector.run(batch(value))
            found += swapper.run(batch(value, -value))["y"][:, 0].tolist()
        assert (detector.usage.calls, swapper.usage.items) == (20, 40)
        return found

    with Pool(residency) as pool, ThreadPoolExecutor(4) as threads:
        for found in threads.map(work, range(4)):
            assert found == [2 * sign * value for value in range(20) for sign in (1, -1)]
        assert sorted(loads) == ["detector", "swapper"]
        assert pool.figures["detector"].items == 80
        assert pool.figures["swapper"].items == 160
    assert residency.residents == ()


def test_a_closed_pool_runs_nothing_more(residency: Residency[Session]):
    with Pool(residency) as pool:
        used = pool.session("job", "used", Doubler)
        used.run(batch(1))
        unused = pool.session("job", "unused", Doubler)
    pool.close()
    for session in (used, unused):
        with pytest.raises(EngineError, match="its batcher is closed"):
            session.run(batch(1))
    assert residency.residents == (), "nothing is loaded to say so"
