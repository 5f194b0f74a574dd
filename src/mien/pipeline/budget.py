"""How the networks of a job share the memory that it may take, before anything is loaded."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mien.engine.memory import format_bytes, machine_memory, parse_budget
from mien.engine.turns import Step, Turns, check_each, plan_turns
from mien.errors import UsageError

FRAMES_BYTES = 512 * 1024**2
"""For the frames that wait while networks take turns, beside the budget of the networks."""
_PATCHES_BYTES = 12_000_000
"""Of a frame in work: a face of 500 pixels and its crop of 512, each before and after, in float32."""
_FRAMES_EACH = 3
"""Frames in memory for one that is in work: others are read and written meanwhile."""


def read_budget(text: str) -> int:
    """Bytes that the recipe's `memory_budget` means; where the system does not tell what is free, `auto` is no bound.

    Raises:
        UsageError: it makes no sense.
    """
    memory = machine_memory()
    return sys.maxsize if memory is None and text == "auto" else parse_budget(text, memory)


def waiting_bytes(pixels: int, enlarged: int = 1) -> int:
    """What a frame of so many pixels takes that waits for networks, and becomes `enlarged` times as wide and high."""
    return _PATCHES_BYTES + _FRAMES_EACH * pixels * 3 // 2 * (1 + (enlarged**2 if enlarged > 1 else 0))


@dataclass(frozen=True, slots=True)
class Fit:
    """How networks share a budget."""

    peak_bytes: int
    """What they will hold at most."""
    turns: Turns | None = None
    """How the frames use them; None where none is used by frames."""
    warnings: tuple[str, ...] = ()

    @property
    def in_turns(self) -> Turns | None:
        """The same where the networks do not fit together."""
        return self.turns if self.turns is not None and self.turns.taken else None


def fit(expected_bytes: Mapping[str, int], steps: Sequence[Step], budget_bytes: int, frame_bytes: int) -> Fit:
    """How networks share a budget.

    Args:
        expected_bytes: Of each network, by id, what it will probably hold.
        steps: Those that frames use, in the order of use. Others are used once, before the first frame.
        budget_bytes: For networks.
        frame_bytes: Of a frame that waits.

    Raises:
        UsageError: one does not fit; the message names the smallest budget that works.
    """
    if not expected_bytes:
        return Fit(0)
    check_each(expected_bytes, budget_bytes)
    peak_bytes = min(sum(expected_bytes.values()), budget_bytes)
    if not steps:
        return Fit(peak_bytes)
    turns = plan_turns(steps, budget_bytes, frame_bytes, frames_bytes=FRAMES_BYTES)
    if not turns.taken:
        return Fit(peak_bytes, turns)
    together = format_bytes(sum({step.model: step.held_bytes for step in steps}.values()))
    return Fit(
        peak_bytes,
        turns,
        (
            f"the networks take turns over chunks of frames, which costs loading them for each chunk: a "
            f"'memory_budget' of {together} holds them all",
        ),
    )


def needed_together(steps: Sequence[Step], budget_bytes: int) -> None:
    """Refuse a budget that would have networks take turns where there is nothing but the next frame.

    Raises:
        UsageError: it would; the message names the smallest budget that works.
    """
    together_bytes = sum({step.model: step.held_bytes for step in steps}.values())
    if together_bytes > budget_bytes:
        raise UsageError(
            f"a memory budget of {format_bytes(budget_bytes)} does not hold all networks of a stream at once: "
            f"give 'memory_budget' at least {format_bytes(together_bytes)}"
        )
