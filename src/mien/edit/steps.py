"""Work that tells which network it needs next, so that many frames can do it network by network."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mien.edit.effect import Effect
from mien.faces.face import TrackedFace
from mien.geometry import Rect

T = TypeVar("T")

Steps = Generator[str, None, T]
"""Yields the role of a network before each use of it. Whoever drives it goes on when that network may be used."""


@runtime_checkable
class SteppedEffect(Protocol):
    """An effect that uses the field's networks."""

    def steps(
        self,
        patch: NDArray[np.float32],
        rect: Rect,
        face: TrackedFace,
        others: Sequence[TrackedFace],
        *,
        target: NDArray[np.float32] | None,
    ) -> Steps[NDArray[np.float32]]:
        """`Effect.edit` in steps; `target` is the patch before the first effect."""
        ...


def at_once(steps: Steps[T]) -> T:
    """Do all steps, whatever networks they need."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def steps_of(
    effect: Effect,
    patch: NDArray[np.float32],
    rect: Rect,
    face: TrackedFace,
    others: Sequence[TrackedFace],
    target: NDArray[np.float32],
) -> Steps[NDArray[np.float32]]:
    """An effect's edit in steps; in one, if it uses none of the field's networks."""
    if isinstance(effect, SteppedEffect):
        return (yield from effect.steps(patch, rect, face, others, target=target))
    return effect.edit(patch, rect, face, others)
