"""How long the field's networks will take, by the operations that the catalogue tells of them."""

from __future__ import annotations

from collections.abc import Mapping

from mien.engine.choose import Choice
from mien.models.families.family import Role
from mien.models.store import Located
from mien.recipe import Recipe

_CPU_OPERATIONS_PER_S = {"fp32": 1e11, "bf16": 4e11}
"""Multiply-adds on two cores of an AMD EPYC, roughly."""
_GPU_OPERATIONS_PER_S = 2e13
_TILE_PIXELS = 100 * 100
"""Of a picture that an upscaler takes in one item, roughly."""


def network_seconds(
    recipe: Recipe, located: Mapping[Role, Located], choices: Mapping[Role, Choice], frames: int, pixels: int
) -> float:
    """Seconds that networks whose operations are known take for so many frames of `pixels`, with one face in each."""
    seconds = (
        _items(role, recipe, pixels) * (one.entry.operations or 0) / _rate(choices[role])
        for role, one in located.items()
    )
    return frames * sum(seconds)


def _items(role: Role, recipe: Recipe, pixels: int) -> float:
    """Items in a frame; what is done once a job does not count."""
    if role == "recogniser":
        return float(recipe.swapper_weight != 0.5)
    if role == "converter":
        return 0
    if role == "swapper" and recipe.pixel_boost is not None:
        return (recipe.pixel_boost / 128) ** 2
    return pixels / _TILE_PIXELS if role == "upscaler" else 1


def _rate(choice: Choice) -> float:
    if choice.device.kind != "cpu":
        return _GPU_OPERATIONS_PER_S
    return _CPU_OPERATIONS_PER_S.get(choice.precision, _CPU_OPERATIONS_PER_S["fp32"])
