"""Which licences a job may build on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from mien.errors import PolicyError
from mien.models.catalogue import CatalogueEntry, Permission

Profile = Literal["any", "non-commercial", "commercial"]
"""What the results of a job are for. `any` leaves it to the user."""

_PERMITTED: Mapping[Profile, frozenset[Permission]] = {
    "any": frozenset({"commercial", "non-commercial", "research", "unknown"}),
    "non-commercial": frozenset({"commercial", "non-commercial"}),
    "commercial": frozenset({"commercial"}),
}
"""Research is narrower than non-commercial use: a hobby is none. Where nothing is known, nothing is permitted."""


def is_permitted(permits: Permission, profile: Profile) -> bool:
    """Whether a network whose licence permits `permits` may be used under `profile`."""
    return permits in _PERMITTED[profile]


def check_licence(entry: CatalogueEntry, profile: Profile, others: Iterable[CatalogueEntry]) -> None:
    """Refuse a network that the profile does not permit.

    Args:
        entry: The network.
        profile: What the job is for.
        others: Networks among which the message names those of the same role that are permitted.

    Raises:
        PolicyError: it is not permitted.
    """
    if is_permitted(entry.permits, profile):
        return
    use = "use that is not known" if entry.permits == "unknown" else f"{entry.permits} use only"
    permitted = [
        f"{other.id} ({other.licence})"
        for other in others
        if other.role == entry.role and other.id != entry.id and is_permitted(other.permits, profile)
    ]
    instead = f"of this role, {', '.join(permitted)} may be used" if permitted else "no other of its role may be used"
    raise PolicyError(
        f"{entry.id} is refused: its licence ({entry.licence}) permits {use}, "
        f"the licence profile is {profile}; {instead}"
    )
