"""A network under a memory budget as a `Session`, for code that knows no budgets."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mien.engine.calls import Totals
from mien.engine.residency import Residency
from mien.engine.session import Ran, Session, Tensors, Usage


class LeasedSession:
    """Leases its network for each call: between calls it may leave, and it is loaded again when needed."""

    def __init__(
        self, residency: Residency[Session], key: str, loader: Callable[[], Session], *, expected_bytes: int = 0
    ) -> None:
        """Load nothing yet. The arguments are those of `Residency.lease`."""
        self._residency = residency
        self._key = key
        self._loader = loader
        self._expected_bytes = expected_bytes
        self._ran: Ran | None = None
        self._totals = Totals()

    @property
    def ran(self) -> Ran:
        """What really runs the network. It is loaded for this if it never was.

        Raises:
            UsageError: it does not fit into the budget.
            ModelError: its file is missing or damaged.
            EngineError: it cannot be compiled.
        """
        if self._ran is None:
            with self._residency.lease(self._key, self._loader, expected_bytes=self._expected_bytes) as session:
                self._ran = session.ran
        return self._ran

    @property
    def usage(self) -> Usage:
        """Calls, batch items and seconds so far, over all times it was loaded; loading is not in the seconds."""
        return self._totals.usage

    def run(self, inputs: Tensors) -> dict[str, NDArray[np.float32]]:
        """Run one batch.

        Raises:
            UsageError: the network does not fit into the budget.
            ModelError: its file is missing or damaged.
            EngineError: the engine failed, or an input has the wrong name or shape.
        """
        with self._residency.lease(self._key, self._loader, expected_bytes=self._expected_bytes) as session:
            self._ran = session.ran
            started = time.perf_counter()
            outputs = session.run(inputs)
            seconds = time.perf_counter() - started
        self._totals.add(len(next(iter(inputs.values()))), seconds)
        return outputs
