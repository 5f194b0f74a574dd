"""Networks share a budget, or are refused before anything is loaded."""

from __future__ import annotations

import pytest

from mien.errors import UsageError
from mien.pipeline.budget import fit

MIB = 1024**2


def test_all_together() -> None:
    assert (fit({"a": 30, "b": 70}, 100).peak_bytes, fit({"a": 30, "b": 70}, 100).warnings) == (100, ())


def test_no_networks() -> None:
    assert fit({}, 1).peak_bytes == 0


def test_turns_are_said_with_the_budget_that_spares_them() -> None:
    shared = fit({"a": 30 * MIB, "b": 70 * MIB}, 80 * MIB)
    assert shared.peak_bytes == 80 * MIB
    (warning,) = shared.warnings
    assert "take turns" in warning
    assert "100MiB" in warning


def test_the_smallest_budget_that_works_is_named() -> None:
    networks = {"a": 30 * MIB, "b": 70 * MIB}
    with pytest.raises(UsageError, match=r"too small for b: .* at least 70MiB"):
        fit(networks, 70 * MIB - 1)
    assert fit(networks, 70 * MIB).peak_bytes == 70 * MIB
