"""Whether a file really runs in batches: many were exported for one item, and some of those break with more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session, Tensors
from mien.errors import EngineError
from mien.models.families.family import Network

_OPEN_SIDE = 64
"""Of noise for axes that the file leaves open."""
_TOLERANCE = 0.01
"""Of a result's spread: batches may be computed in another order, and in low precision."""


def runs_in_batches(session: Session, network: Network) -> bool:
    """Run two items of noise together and one by one: True if both ways give the same.

    An adapter whose file does not is told so by `adapter.batches = False`.

    Raises:
        EngineError: not even one item runs.
    """
    items = _noise(network, seed=0), _noise(network, seed=1)
    alone = [session.run(item) for item in items]
    try:
        both = session.run({name: np.concatenate([item[name] for item in items]) for name in items[0]})
    except EngineError:
        return False
    return all(_alike(value, np.concatenate([one[name] for one in alone])) for name, value in both.items())


def _noise(network: Network, seed: int) -> Tensors:
    rng = np.random.default_rng(seed)
    sides = {
        port.name: [side if isinstance(side, int) else _OPEN_SIDE for side in port.shape[1:]] for port in network.inputs
    }
    return {name: rng.random((1, *inner), np.float32) for name, inner in sides.items()}


def _alike(first: NDArray[np.float32], second: NDArray[np.float32]) -> bool:
    if first.shape != second.shape:
        return False
    return bool(np.abs(first - second).max(initial=0) <= _TOLERANCE * max(float(np.ptp(second)), 1e-6))
