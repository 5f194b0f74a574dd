"""Which parts of a network must stay as they are: searches over named nodes, with whatever measures them.

Pure: what a measurement is, and what it costs, is the caller's. Nothing is measured twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Damage = Callable[[frozenset[str]], float]
"""Output error when these nodes alone are changed; infinite or NaN where the network breaks."""
Passes = Callable[[frozenset[str]], bool]
"""Whether the network reaches its bar when these nodes are kept and all others changed."""

DEEPEST = 6
"""Times that the limit of a bisection is halved: to a sixty-fourth of the bar."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What changing one node does."""

    node: str
    damage: float


def sensitivities(nodes: Iterable[str], damage: Damage) -> tuple[Sensitivity, ...]:
    """Every node changed alone, the most harmful first; of equals, the one that comes first in the network."""
    measured = [Sensitivity(node, _finite(damage(frozenset({node})))) for node in nodes]
    return tuple(sorted(measured, key=lambda one: -one.damage))


def fewest_kept(order: Sequence[str], passes: Passes, always: frozenset[str] = frozenset()) -> frozenset[str] | None:
    """The shortest head of `order` that has to be kept, found by halving; None if even keeping all does not do.

    Args:
        order: Nodes, the most harmful first.
        passes: The bar. Keeping more is taken to be no worse.
        always: Kept in any case.
    """
    low, high = -1, len(order)  # Keeping `low` fails, keeping `high` passes.
    if not passes(always | frozenset(order)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if passes(always | frozenset(order[:middle])):
            high = middle
        else:
            low = middle
    return always | frozenset(order[:high])


def culprits(nodes: Sequence[str], damage: Damage, limit: float) -> frozenset[str]:
    """Single nodes that are over the limit, by halving stretches of the network that are over it.

    A stretch under the limit is not looked into: of n nodes with k culprits about 2 k log n sets are measured.
    """
    if not nodes or _finite(damage(frozenset(nodes))) <= limit:
        return frozenset()
    if len(nodes) == 1:
        return frozenset(nodes)
    middle = len(nodes) // 2
    return culprits(nodes[:middle], damage, limit) | culprits(nodes[middle:], damage, limit)


def bisect(nodes: Sequence[str], damage: Damage, passes: Passes, limit: float) -> frozenset[str] | None:
    """What to keep so that the network as a whole passes: culprits at ever lower limits; None if nothing helps.

    Args:
        nodes: In the network's order.
        damage: Of changing some nodes alone.
        passes: The bar for the whole network.
        limit: Damage that a stretch may do at first.
    """
    remembered: dict[frozenset[str], float] = {}

    def known(changed: frozenset[str]) -> float:
        if changed not in remembered:
            remembered[changed] = damage(changed)
        return remembered[changed]

    tried: frozenset[str] | None = None
    if passes(frozenset()):
        return frozenset()
    for step in range(DEEPEST + 1):
        kept = culprits(nodes, known, limit / 2**step)
        if kept != tried and len(kept) < len(nodes) and passes(kept):
            return kept
        tried = kept
    return None


def _finite(damage: float) -> float:
    return math.inf if math.isnan(damage) else damage
