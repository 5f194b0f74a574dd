"""Memory and networks that exist only in tests, and do what real ones do to a meter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mien.engine.session import Ran, Tensors, Usage

MIB = 1024**2


@dataclass
class FakeMemory:
    """A meter over blocks that loaders take and sessions give back, with an allocator that may keep some."""

    used: int = 100 * MIB
    kept: int = 0
    """Given back to the allocator, not to the system."""
    keeps: bool = False
    highest: int = 0
    loads: list[str] = field(default_factory=list)

    def used_bytes(self) -> int:
        return self.used + self.kept

    def loader(self, key: str, size: int) -> Callable[[], FakeNetwork]:
        def load() -> FakeNetwork:
            self.loads.append(key)
            reused = min(self.kept, size)
            self.kept -= reused
            self.used += size
            self.highest = max(self.highest, self.used)
            return FakeNetwork(key, size, self)

        return load

    def trim(self) -> None:
        self.kept = 0


class FakeNetwork:
    """Holds bytes of a fake memory until it is released."""

    def __init__(self, key: str, size: int, memory: FakeMemory) -> None:
        self.key = key
        self.size = size
        self.memory = memory

    def release(self) -> None:
        self.memory.used -= self.size
        if self.memory.keeps:
            self.memory.kept += self.size


class Doubler:
    """A session whose output `y` is twice its input `x`; it keeps the batches it ran."""

    ran = Ran("doubler", "memory", "cpu (none)", "fp32")

    def __init__(self, during: Callable[[Tensors], None] = lambda _: None) -> None:
        self.during = during
        self.batches: list[np.ndarray] = []

    @property
    def usage(self) -> Usage:
        return Usage(len(self.batches), sum(len(batch) for batch in self.batches), 0.0)

    def run(self, inputs: Tensors) -> dict[str, np.ndarray]:
        self.batches.append(inputs["x"].copy())
        self.during(inputs)
        return {"y": 2 * inputs["x"]}
