"""What a run costs is what it cost itself."""

from __future__ import annotations

import time

import numpy as np
import pytest

from mien.engine.session import Ran, Usage
from mien.pipeline.meter import Meter, peak_memory_bytes
from mien.report import Report


class Counting:
    """A session that was used before the run."""

    def __init__(self, model: str, calls: int) -> None:
        self.ran = Ran(model, "openvino", "cpu", "fp32")
        self.usage = Usage(calls, 3 * calls, calls / 10)


def fill(meter: Meter, sessions: list[Counting], frames_made: int = 0, **fields: float) -> Report:
    report = Report(target="t", output="o", version="0", **fields)  # type: ignore[arg-type]
    meter.fill(report, sessions, frames_made)  # type: ignore[arg-type]
    return report


def test_networks_count_from_the_start_of_the_run() -> None:
    used, idle = Counting("used", 5), Counting("idle", 7)
    meter = Meter([used, idle])  # type: ignore[list-item]
    used.usage = Usage(9, 30, 2.0)
    late = Counting("late", 2)
    report = fill(meter, [used, idle, late])
    assert [(use.model, use.calls, use.items) for use in report.models] == [("used", 4, 15), ("late", 2, 6)]
    assert report.models[0].seconds == pytest.approx(1.5)


def test_time_and_money() -> None:
    report = fill(Meter([]), [], frames_made=50, price_per_hour=7200.0, media_seconds=30.0)
    assert report.frames_per_second == pytest.approx(50 / report.seconds)
    assert report.cost == pytest.approx(2 * report.seconds)
    assert report.cost_per_media_minute == pytest.approx(4 * report.seconds)
    assert fill(Meter([]), []).cost is None


def test_work_is_processor_time() -> None:
    meter, began = Meter([]), time.process_time()
    while (spent := time.process_time() - began) < 0.05:
        np.linalg.svd(np.ones((50, 50)))
    assert spent <= fill(meter, []).cpu_seconds < spent + 5


@pytest.mark.alone
def test_the_peak_is_that_of_the_run() -> None:
    meter = Meter([])
    before = peak_memory_bytes()
    block = np.ones(50_000_000, np.uint8)
    assert fill(meter, []).peak_memory_bytes >= before + 40_000_000
    del block
    after = fill(Meter([]), []).peak_memory_bytes
    assert after < before + 30_000_000
