"""What all engines do around a call: look at the inputs, and count."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from mien.engine.session import Tensors, Usage
from mien.errors import EngineError

Side = int | str | None
"""Of an input: a number, or anything else where the file leaves it open."""


class Totals:
    """Running totals of a session. Safe to use from several threads."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._lock = threading.Lock()

    def add(self, items: int, seconds: float) -> None:
        """Count one call."""
        with self._lock:
            self._usage.calls += 1
            self._usage.items += items
            self._usage.seconds += seconds

    @property
    def usage(self) -> Usage:
        """A copy."""
        with self._lock:
            return Usage(self._usage.calls, self._usage.items, self._usage.seconds)


def check_inputs(model: str, inputs: Tensors, shapes: Mapping[str, tuple[Side, ...]]) -> int:
    """How many items a batch has.

    Args:
        model: For messages.
        inputs: What a session was given.
        shapes: Of all inputs, by name. The first axis is the batch, and may have any length.

    Raises:
        EngineError: an input is missing or too many, has another shape, or there are no items.
    """
    if set(inputs) != set(shapes):
        raise EngineError(f"{model} takes {', '.join(shapes)}, got {', '.join(inputs) or 'nothing'}")
    for name, value in inputs.items():
        shape = shapes[name]
        fits = value.ndim == len(shape) and all(
            not isinstance(side, int) or side == given for side, given in zip(shape[1:], value.shape[1:], strict=True)
        )
        if not fits or not len(value):
            sides = ", ".join("any" if side is None else str(side) for side in shape[1:])
            raise EngineError(f"{model}: input {name} takes shape (n, {sides}), got {value.shape}")
    return len(next(iter(inputs.values())))
