"""The people whose faces appear, once what their pictures show and who they are is permitted."""

from __future__ import annotations

import functools

from mien.media.pictures import read_rgb
from mien.pipeline.effects import Role
from mien.pipeline.guard import Guard
from mien.pipeline.networks import JobNetworks
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from mien.trust.gate import Gate


def permitted_roles(recipe: Recipe, workshop: Workshop, networks: JobNetworks, guard: Guard) -> tuple[Role, ...]:
    """Whose faces appear: a role's number is its place here.

    Raises:
        UnreadableError, NoFaceError, UnfitSourceError: a source picture cannot be used; the message names it.
        PolicyError: what a picture shows, or whose face it is, is refused.
        EngineError, UsageError: a network cannot be run, or does not fit into the budget.
    """
    read = functools.cache(read_rgb)  # Each picture is decoded once.

    def refuses(picture: str, gate: Gate) -> bool:
        return workshop.is_refused(picture, gate, read)

    for picture in (*recipe.sources, *(name for entry in recipe.map for name in entry.sources)):
        guard.source(picture, refuses)
    roles = workshop.roles(recipe, networks, read)
    if "swap" in recipe.effects:
        guard.people([role.face.embedding if role.face else None for role in roles])
    return roles
