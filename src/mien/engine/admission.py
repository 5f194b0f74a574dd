"""Which networks leave so that one more fits into a budget of bytes: pure functions, no clock, no threads."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resident:
    """A loaded network as the policy sees it."""

    key: str
    held_bytes: int
    """Measured when it was loaded."""
    leases: int
    """How many use it now; it can leave only at 0."""
    last_used_s: float
    """When its last lease was given back, on the manager's clock."""


@dataclass(frozen=True, slots=True)
class Admit:
    """Load it, after these have left."""

    evict: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """It fits when these have left, and some of them are in use."""

    leaving: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """It can never fit."""

    smallest_bytes: int
    """The least budget that would do."""


def admit(
    residents: Collection[Resident], need_bytes: int, budget_bytes: int, *, retained_bytes: int = 0
) -> Admit | Wait | Refuse:
    """Whether a network of `need_bytes` may be loaded, and who has to leave first.

    The least recently used idle ones leave, and none whose leaving is not needed. `retained_bytes` are those that the
    allocator kept when networks left before: they are taken off the budget.
    """
    room = budget_bytes - retained_bytes
    if need_bytes > room:
        return Refuse(need_bytes + retained_bytes)
    surplus = need_bytes + sum(resident.held_bytes for resident in residents) - room
    idle = [resident for resident in residents if not resident.leases]
    victims = _least_recent(idle, surplus)
    if victims is not None:
        return Admit(victims)
    in_use = [resident for resident in residents if resident.leases]
    still = surplus - sum(resident.held_bytes for resident in idle)
    return Wait(tuple(resident.key for resident in idle) + (_least_recent(in_use, still) or ()))


def excess(residents: Collection[Resident], budget_bytes: int, *, retained_bytes: int = 0) -> tuple[str, ...]:
    """Idle networks that have to leave because more is held than the budget allows."""
    surplus = sum(resident.held_bytes for resident in residents) + retained_bytes - budget_bytes
    idle = [resident for resident in residents if not resident.leases]
    victims = _least_recent(idle, surplus)
    return victims if victims is not None else tuple(resident.key for resident in idle)


def expired(residents: Iterable[Resident], now_s: float, idle_s: float) -> tuple[str, ...]:
    """Networks that nobody has used for `idle_s` seconds."""
    return tuple(
        resident.key for resident in residents if not resident.leases and now_s - resident.last_used_s >= idle_s
    )


def _least_recent(candidates: Iterable[Resident], surplus_bytes: int) -> tuple[str, ...] | None:
    """The least recently used whose bytes make up the surplus; None if all of them together do not."""
    victims: list[Resident] = []
    for resident in sorted(candidates, key=lambda resident: resident.last_used_s):
        if surplus_bytes <= 0:
            break
        victims.append(resident)
        surplus_bytes -= resident.held_bytes
    if surplus_bytes > 0:
        return None
    # A large one at the end can make small ones before it needless: the most recently used of those may stay.
    for resident in reversed(victims[:-1]):
        if surplus_bytes + resident.held_bytes <= 0:
            victims.remove(resident)
            surplus_bytes += resident.held_bytes
    return tuple(resident.key for resident in victims)
