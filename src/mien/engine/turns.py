"""Whether the networks of a job fit into a budget together, or by taking turns over chunks of frames: a pure plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
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
    """Frames that are in memory at once; with one group no more than the least."""
    peak_bytes: int
    """The largest group and a chunk."""
    loading_share: float
    """Share of the time that goes into loading; 0 with one group."""


def plan_turns(
    steps: Sequence[Step], budget_bytes: int, frame_bytes: int, *, least_frames: int = 1, most_frames: int = 256
) -> Turns:
    """The plan with the least loading: all together if they fit, else as few turns as the budget allows.

    Args:
        steps: In the order of use. A group is of neighbours.
        budget_bytes: For networks and frames together.
        frame_bytes: Of one frame between two steps.
        least_frames: Chunks are no smaller.
        most_frames: Chunks are no larger: frames that wait are latency.

    Raises:
        UsageError: the budget does not hold the largest network and the smallest chunk; names the one that does.
    """
    least_bytes = least_frames * frame_bytes
    plans = [_plan(groups, budget_bytes, frame_bytes, least_frames, most_frames) for groups in _groupings(steps)]
    fitting = [plan for plan in plans if plan.chunk_frames >= least_frames]
    if not fitting:
        largest = max(steps, key=lambda step: step.held_bytes)
        raise UsageError(
            f"a memory budget of {format_bytes(budget_bytes)} is too small: {largest.model} alone holds "
            f"{format_bytes(largest.held_bytes)} and {least_frames} frames {format_bytes(least_bytes)}; "
            f"give at least {format_bytes(largest.held_bytes + least_bytes)}"
        )
    quick = [plan for plan in fitting if plan.loading_share <= LOADING_SHARE]
    if quick:
        return min(quick, key=lambda plan: (len(plan.groups), plan.peak_bytes))
    return min(fitting, key=lambda plan: (plan.loading_share, len(plan.groups)))


def _groupings(steps: Sequence[Step]) -> Iterator[tuple[tuple[Step, ...], ...]]:
    """Every way to cut the steps into groups of neighbours; jobs have a handful of networks."""
    for cuts in itertools.product((False, True), repeat=len(steps) - 1):
        bounds = [0, *(place for place, cut in enumerate(cuts, 1) if cut), len(steps)]
        yield tuple(tuple(steps[first:end]) for first, end in itertools.pairwise(bounds))


def _plan(
    groups: Sequence[Sequence[Step]], budget_bytes: int, frame_bytes: int, least_frames: int, most_frames: int
) -> Turns:
    group_bytes = max(sum(step.held_bytes for step in group) for group in groups)
    affordable = max(0, budget_bytes - group_bytes) // frame_bytes
    if len(groups) == 1:
        wanted, load_s, frame_s = least_frames, 0.0, 0.0
    else:
        load_s = sum(step.load_s for group in groups for step in group)
        frame_s = sum(step.frame_s for group in groups for step in group)
        wanted = min(most_frames, max(least_frames, _wanted_frames(load_s, frame_s, most_frames)))
    chunk_frames = min(affordable, wanted)
    loading_share = load_s / (load_s + chunk_frames * frame_s) if load_s else 0.0
    names = tuple(tuple(step.model for step in group) for group in groups)
    return Turns(names, chunk_frames, group_bytes + chunk_frames * frame_bytes, loading_share)


def _wanted_frames(load_s: float, frame_s: float, most_frames: int) -> int:
    """Frames of a chunk over which loading is `LOADING_SHARE` of the time."""
    work_s = load_s * (1 - LOADING_SHARE) / LOADING_SHARE
    return most_frames if work_s >= most_frames * frame_s else math.ceil(work_s / frame_s)
