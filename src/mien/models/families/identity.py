"""Who a face is to become: source embeddings averaged, and how strongly they are applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

DIMENSIONS = 512
"""Of the embeddings of the field's recogniser."""
_PUSH = 0.35
"""Share of the target's embedding that full strength takes away and none adds."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A person, as a recogniser or a converter sees them."""

    raw: Floats
    """(512,) as the network gives it."""
    unit: Floats
    """(512,) of length one; of several pictures the mean of such, and then a little shorter."""

    @classmethod
    def average(cls, embeddings: NDArray[Any]) -> Identity:
        """Of one person's raw embeddings (n, 512), n >= 1: raw and unit vectors are averaged each for themselves."""
        return cls(embeddings.mean(axis=0).astype(np.float32), unit_vectors(embeddings).mean(axis=0))


def unit_vectors(vectors: NDArray[Any]) -> Floats:
    """Rows (n, d) of length one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)


def apply_strength(source: Floats, targets: Floats, strength: float) -> Floats:
    """Mix a source vector (512,) with, or push it away from, those of the faces it replaces (n, 512): (n, 512).

    Args:
        source: Vector in the swapper's space.
        targets: The targets' own embeddings, as the swapper's family wants them.
        strength: 0..1. At 0.5 it is the plain source; below, up to 35 % of the target is mixed in; above, as much is
            taken away.
    """
    share = np.float32(_PUSH * (1 - 2 * strength))
    return (source * (1 - share) + targets * share).astype(np.float32)
