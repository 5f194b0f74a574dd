"""From the effects that a recipe names to those that edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from mien.edit.effect import Effect
from mien.edit.neural.masking import KINDS
from mien.edit.source import SourceFace, SourcePerson
from mien.edit.swap import GeometricSwap
from mien.errors import RecipeError
from mien.models.families.bisenet import REGIONS
from mien.models.families.masks import AREAS
from mien.pipeline.networks import JobNetworks, effect_names, swaps_by_network
from mien.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Role:
    """Somebody whose face appears; without source pictures, whoever is in the target."""

    face: SourcePerson | None
    """A `SourceFace` where an effect draws it."""
    person: NDArray[Any] | None = None
    """Who that is to the swapper's network (see `JobNetworks.person`)."""


def _swap(recipe: Recipe, role: Role, networks: JobNetworks) -> Effect:
    if swaps_by_network(recipe):
        return networks.swap(role.person)
    assert isinstance(role.face, SourceFace)  # A recipe with this effect names sources.
    return GeometricSwap(role.face, shape=recipe.shape)


def _restore(_recipe: Recipe, _role: Role, networks: JobNetworks) -> Effect:
    return networks.restore()


def _expression(_recipe: Recipe, _role: Role, networks: JobNetworks) -> Effect:
    return networks.expression()


_EFFECTS: Mapping[str, Callable[[Recipe, Role, JobNetworks], Effect]] = {
    "swap": _swap,
    "restore": _restore,
    "expression": _expression,
}


def check_effects(recipe: Recipe) -> None:
    """Check the names of effects, masks, areas and regions.

    Raises:
        RecipeError: one does not exist.
    """
    for names, known, what in (
        (recipe.effects, _EFFECTS, "effect"),
        (recipe.mask, KINDS, "mask"),
        (recipe.mask_areas, AREAS, "area of the face"),
        (recipe.mask_regions, REGIONS, "region of the face"),
    ):
        if unknown := [name for name in names if name not in known]:
            raise RecipeError(f"unknown {what} '{unknown[0]}': there is {', '.join(known)}")


def make_effects(recipe: Recipe, roles: Sequence[Role], networks: JobNetworks) -> dict[int, list[Effect]]:
    """A fresh set of the recipe's effects for each role."""
    names = effect_names(recipe)
    return {number: [_EFFECTS[name](recipe, role, networks) for name in names] for number, role in enumerate(roles)}
