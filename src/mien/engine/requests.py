"""Requests in a batcher's queue and the parts of them that a batch takes."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mien.engine.batching import Waiting
from mien.engine.session import Tensors, Usage
from mien.errors import EngineError

Outputs = dict[str, NDArray[np.float32]]


@dataclass(slots=True, eq=False)
class Request:
    """What one caller wants to run, and how far it has come."""

    job: str
    kind: Hashable
    """Names, types and inner shapes of the inputs."""
    inputs: Tensors
    items: int
    arrived_s: float
    """On `time.monotonic`."""
    usage: Usage | None
    future: Future[Outputs] = field(default_factory=Future[Outputs])
    taken: int = 0
    """Items that are in a batch by now."""
    failed: bool = False
    finished: int = 0
    """Items whose outputs are there."""
    parts: dict[int, Outputs] = field(default_factory=dict[int, Outputs])
    """Finished outputs by their first item."""

    def view(self) -> Waiting:
        """The request as the policy sees it."""
        return Waiting(self.job, self.kind, self.items - self.taken, self.arrived_s)

    @property
    def complete(self) -> bool:
        """Whether all parts are there."""
        return self.finished == self.items

    def whole(self) -> Outputs:
        """All outputs in the order of the items."""
        return merged([self.parts[first] for first in sorted(self.parts)])


@dataclass(frozen=True, slots=True)
class Part:
    """Items of one request in one batch."""

    request: Request
    first: int
    items: int

    def inputs(self) -> Outputs:
        """The inputs of these items: views."""
        return rows(self.request.inputs, self.first, self.items)


def make_request(job: str, inputs: Tensors, usage: Usage | None) -> Request:
    """A request that arrives now.

    Raises:
        EngineError: the inputs do not have the same number of items, one or more.
    """
    lengths = {len(value) if value.ndim else 0 for value in inputs.values()}
    if len(lengths) != 1 or 0 in lengths:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in inputs.items())
        raise EngineError(f"not a batch: inputs are to have one item or more on the first axis, got {shapes or 'none'}")
    kind = tuple((name, inputs[name].dtype, inputs[name].shape[1:]) for name in sorted(inputs))
    return Request(job, kind, inputs, lengths.pop(), time.monotonic(), usage)


def rows(tensors: Tensors, first: int, items: int) -> Outputs:
    """Some items of each tensor: views."""
    return {name: value[first : first + items] for name, value in tensors.items()}


def merged(parts: Sequence[Outputs]) -> Outputs:
    """Parts one after the other; a single one as it is."""
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
