"""Whether the networks of a job fit into the memory that it may take, before anything is loaded."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from mien.engine.memory import format_bytes, machine_memory, parse_budget
from mien.errors import UsageError


def read_budget(text: str) -> int:
    """Bytes that the recipe's `memory_budget` means; where the system does not tell what is free, `auto` is no bound.

    Raises:
        UsageError: it makes no sense.
    """
    memory = machine_memory()
    return sys.maxsize if memory is None and text == "auto" else parse_budget(text, memory)


@dataclass(frozen=True, slots=True)
class Fit:
    """How networks share a budget."""

    peak_bytes: int
    """What they will hold at most."""
    warnings: tuple[str, ...] = ()


def fit(expected_bytes: Mapping[str, int], budget_bytes: int) -> Fit:
    """How networks, by id, that will probably hold so many bytes share a budget: each is used on its own.

    Raises:
        UsageError: one does not fit; the message names the smallest budget that works.
    """
    largest = max(expected_bytes, key=expected_bytes.__getitem__, default="")
    least_bytes, total_bytes = expected_bytes.get(largest, 0), sum(expected_bytes.values())
    if least_bytes > budget_bytes:
        raise UsageError(
            f"a memory budget of {format_bytes(budget_bytes)} is too small for {largest}: "
            f"give 'memory_budget' at least {format_bytes(least_bytes)}"
        )
    if total_bytes <= budget_bytes:
        return Fit(total_bytes)
    return Fit(
        budget_bytes,
        (
            f"the networks take turns, which costs loading them again and again: a 'memory_budget' of "
            f"{format_bytes(total_bytes)} holds them all",
        ),
    )
