"""Whether two embeddings show one person: bounds for consent and for faces that are barred.

The bundled network's own bound is .6. It was chosen for as many errors of the one kind as of the other; here one kind
is worse. Measured: pictures of one person in other light, blurred, mirrored, compressed, talking and turned are at most
.42 apart, different people at least .46, most of them .6 and more; people invented as each other's twins .37.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Embedding = NDArray[np.float32]
"""(128,) of the bundled identity network, not normalised."""

CONSENT_DISTANCE = 0.45
"""Below it a face is the one that consented: under the least distance of two people that was seen, as a consent must
not serve for somebody else. Whoever is refused wrongly gives a better picture."""
BARRED_DISTANCE = 0.5
"""Below it a face is the one that is barred: wider, as here it is worse to miss."""


def distance(one: Embedding, other: Embedding) -> float:
    """Euclidean distance of two embeddings."""
    return float(np.linalg.norm(one - other))


def nearest(face: Embedding, others: Sequence[Embedding]) -> float:
    """Distance to the nearest of several embeddings; infinite if there are none."""
    return min((distance(face, other) for other in others), default=float("inf"))


def digest_of(face: Embedding) -> str:
    """SHA-256 of an embedding, which names it and does not tell it."""
    return hashlib.sha256(np.ascontiguousarray(face, "<f4").tobytes()).hexdigest()
