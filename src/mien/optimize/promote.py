"""Letting an artefact take its parent's place: only what passed the gate, on the device where it did."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from mien.engine.device import find_device
from mien.errors import PolicyError, UsageError
from mien.models.catalogue import Permission, bundled
from mien.models.places import register_file
from mien.models.register import UserEntry, add_to_register, describe_file
from mien.optimize.card import Card, card_path, check_artefact, read_card


def promote(artefact: Path) -> UserEntry:
    """List an artefact under its parent's id: whatever names the parent gets the artefact from then on.

    Raises:
        ModelError: there is no card beside it, or the file is another one than was measured.
        PolicyError: the gate did not let it pass.
        UsageError: its parent comes with mien, or it was measured on another device.
        UnwritableError: the list cannot be written.
    """
    card = read_card(card_path(artefact))
    check_artefact(card, artefact)
    _check(card, artefact)
    parent = card.parent
    entry = describe_file(
        artefact,
        family=parent.family,
        id=parent.model,
        licence=parent.licence,
        permits=cast(Permission, parent.permits),
    )
    add_to_register(register_file(), entry, overwrite=True)
    return entry


def _check(card: Card, artefact: Path) -> None:
    model, verdict = card.parent.model, card.verdict
    by_name = f"it can be used by a name of its own (`mien models add {artefact} --family {card.parent.family}`)"
    if not verdict.passed:
        raise PolicyError(
            f"{artefact} does not take the place of {model}: {verdict.outcome}, {'; '.join(verdict.reasons)}; {by_name}"
        )
    if model in bundled():
        raise UsageError(f"{artefact} does not take the place of {model}, which comes with mien and stays as it is")
    here = find_device("cpu").full_name
    if card.device.startswith("cpu") and f"({here})" not in card.device:
        raise UsageError(f"{artefact} was measured on {card.device}, and this is {here}: make it here, or {by_name}")
