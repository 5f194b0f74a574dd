"""Networks share a budget, or are refused before anything is loaded."""

from __future__ import annotations

import pytest

from mien.engine.turns import Step
from mien.errors import UsageError
from mien.pipeline.budget import FRAMES_BYTES, fit, needed_together, waiting_bytes

MIB = 1024**2
NETWORKS = {"a": 30 * MIB, "b": 70 * MIB}
STEPS = [Step("a", 30 * MIB, 1.0, 0.1), Step("b", 70 * MIB, 2.0, 0.2)]


def test_all_together() -> None:
    shared = fit(NETWORKS, STEPS, 100 * MIB, MIB)
    assert (shared.peak_bytes, shared.warnings, shared.in_turns) == (100 * MIB, (), None)


def test_no_networks() -> None:
    assert fit({}, [], 1, MIB).peak_bytes == 0


def test_what_only_prepares_takes_no_turns() -> None:
    shared = fit(NETWORKS, STEPS[1:], 80 * MIB, MIB)
    assert (shared.peak_bytes, shared.warnings, shared.in_turns) == (80 * MIB, (), None)
    assert fit(NETWORKS, [], 80 * MIB, MIB).turns is None


def test_turns_are_said_with_the_budget_that_spares_them() -> None:
    shared = fit(NETWORKS, STEPS, 80 * MIB, MIB)
    assert shared.peak_bytes == 80 * MIB
    assert shared.in_turns is not None
    assert (shared.in_turns.groups, shared.in_turns.chunk_frames) == ((("a",), ("b",)), 90)
    (warning,) = shared.warnings
    assert "take turns" in warning
    assert "100MiB" in warning


def test_frames_that_wait_have_a_bound() -> None:
    frame_bytes = waiting_bytes(1920 * 1080)
    turns = fit(NETWORKS, STEPS, 80 * MIB, frame_bytes).in_turns
    assert turns is not None
    assert turns.chunk_frames == FRAMES_BYTES // frame_bytes
    assert waiting_bytes(1920 * 1080, 2) > 2 * frame_bytes


def test_the_smallest_budget_that_works_is_named() -> None:
    with pytest.raises(UsageError, match=r"too small for b: .* at least 70MiB"):
        fit(NETWORKS, STEPS[:1], 70 * MIB - 1, MIB)
    assert fit(NETWORKS, STEPS, 70 * MIB, MIB).peak_bytes == 70 * MIB


def test_a_stream_has_no_time_for_turns() -> None:
    needed_together(STEPS, 100 * MIB)
    needed_together([], 0)
    with pytest.raises(UsageError, match=r"does not hold all networks of a stream .* at least 100MiB"):
        needed_together(STEPS, 100 * MIB - 1)
