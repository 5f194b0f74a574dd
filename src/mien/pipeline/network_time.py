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
_LOAD_BYTES_PER_S = 3e8
"""Of a file that is read, compiled and run once, roughly."""
_LEAST_LOAD_S = 0.2
_TILE_PIXELS = 100 * 100
"""Of a picture that an upscaler takes in one item, roughly."""


def network_seconds(
    recipe: Recipe, located: Mapping[Role, Located], choices: Mapping[Role, Choice], frames: int, pixels: int
) -> float:
    """Seconds that networks whose operations are known take for so many frames of `pixels`, with one face in each."""
    return frames * sum(frame_seconds(recipe, role, one, choices[role], pixels) for role, one in located.items())


def frame_seconds(recipe: Recipe, role: Role, one: Located, choice: Choice, pixels: int) -> float:
    """Seconds that a network takes for a frame of `pixels` with one face; 0 where its operations are not known."""
    return _items(role, recipe, pixels) * (one.entry.operations or 0) / _rate(choice)


def load_seconds(one: Located) -> float:
    """Seconds to load a network."""
    return _LEAST_LOAD_S + one.path.stat().st_size / _LOAD_BYTES_PER_S


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
