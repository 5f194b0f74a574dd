"""Whether the networks of a job fit into a budget together, or by taking turns over chunks of frames: a pure plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mien.engine.memory import format_bytes
from mien.errors import UsageError

LOADING_SHARE = 0.1
"""Chunks are made large enough that loading takes no more than this share of the time, where the budget allows it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One network of a job."""

    model: str
    held_bytes: int
    load_s: float = 0.0
    """Seconds to load it again."""
    frame_s: float = 0.0
    """Seconds it takes a frame."""


@dataclass(frozen=True, slots=True)
class Turns:
    """How a job runs: for each chunk of frames, each group of networks in turn is loaded and does the whole chunk."""

    groups: tuple[tuple[str, ...], ...]
    """One group: all stay loaded."""
    chunk_frames: int
    """Frames that wait for each other; 1 with one group."""
    peak_bytes: int
    """Of the largest group."""
    loading_share: float
    """Share of the time that goes into loading; 0 with one group."""

    @property
    def taken(self) -> bool:
        """Whether networks come and go."""
        return len(self.groups) > 1


def plan_turns(
    steps: Sequence[Step], budget_bytes: int, frame_bytes: int, *, frames_bytes: int, most_frames: int = 256
) -> Turns:
    """The plan with the least loading: all together if they fit, else as few turns as the budget allows.

    Args:
        steps: In the order of use. A group is of neighbours; a network that is used several times may be in several.
        budget_bytes: For networks.
        frame_bytes: Of one frame that waits between two groups.
        frames_bytes: For all frames that wait: a bound of the chunk, which has one frame at least.
        most_frames: Chunks are no larger: frames that wait are latency.

    Raises:
        UsageError: the budget does not hold the largest network; names the one that does.
    """
    check_each({step.model: step.held_bytes for step in steps}, budget_bytes)
    most_frames = max(1, min(most_frames, frames_bytes // frame_bytes))
    plans = [_plan(groups, most_frames) for groups in _groupings(steps)]
    fitting = [plan for plan in plans if plan.peak_bytes <= budget_bytes]
    quick = [plan for plan in fitting if plan.loading_share <= LOADING_SHARE]
    if quick:
        return min(quick, key=lambda plan: (len(plan.groups), plan.chunk_frames, plan.peak_bytes))
    return min(fitting, key=lambda plan: (plan.loading_share, len(plan.groups)))


def check_each(held_bytes: Mapping[str, int], budget_bytes: int) -> None:
    """Check that a budget holds each network, by id, on its own.

    Raises:
        UsageError: it does not hold the largest; names the one that does.
    """
    largest = max(held_bytes, key=held_bytes.__getitem__)
    if held_bytes[largest] > budget_bytes:
        raise UsageError(
            f"a memory budget of {format_bytes(budget_bytes)} is too small for {largest}: "
            f"give 'memory_budget' at least {format_bytes(held_bytes[largest])}"
        )


def _groupings(steps: Sequence[Step]) -> Iterator[tuple[tuple[Step, ...], ...]]:
    """Every way to cut the steps into groups of neighbours; jobs have a handful of networks."""
    for cuts in itertools.product((False, True), repeat=len(steps) - 1):
        bounds = [0, *(place for place, cut in enumerate(cuts, 1) if cut), len(steps)]
        yield tuple(tuple(steps[first:end]) for first, end in itertools.pairwise(bounds))


def _plan(groups: Sequence[Sequence[Step]], most_frames: int) -> Turns:
    names = tuple(tuple(dict.fromkeys(step.model for step in group)) for group in groups)
    peak_bytes = max(sum({step.model: step.held_bytes for step in group}.values()) for group in groups)
    if len(groups) == 1:
        return Turns(names, 1, peak_bytes, 0.0)
    load_s = sum(sum({step.model: step.load_s for step in group}.values()) for group in groups)
    frame_s = sum(step.frame_s for group in groups for step in group)
    chunk_frames = _wanted_frames(load_s, frame_s, most_frames)
    return Turns(names, chunk_frames, peak_bytes, load_s / (load_s + chunk_frames * frame_s) if load_s else 0.0)


def _wanted_frames(load_s: float, frame_s: float, most_frames: int) -> int:
    """Frames of a chunk over which loading is `LOADING_SHARE` of the time."""
    work_s = load_s * (1 - LOADING_SHARE) / LOADING_SHARE
    return most_frames if work_s >= most_frames * frame_s else max(1, math.ceil(work_s / frame_s))
