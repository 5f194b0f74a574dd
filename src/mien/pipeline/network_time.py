"""How long the field's networks will take: as in earlier runs, else by the operations that the catalogue tells."""

from __future__ import annotations

from mien.engine.choose import Choice
from mien.models.families.family import Role
from mien.models.store import Located
from mien.pipeline.rates import Rates, key
from mien.recipe import Recipe

_CPU_OPERATIONS_PER_S = {"fp32": 1e11, "bf16": 4e11}
"""Multiply-adds on two cores of an AMD EPYC, roughly: a guess for a network that was never run here."""
_GPU_OPERATIONS_PER_S = 2e13
_LOAD_BYTES_PER_S = 3e8
"""Of a file that is read, compiled and run once, roughly."""
_LEAST_LOAD_S = 0.2
_TILE_PIXELS = 100 * 100
"""Of a picture that an upscaler takes in one item, roughly."""


def frame_seconds(recipe: Recipe, role: Role, one: Located, choice: Choice, pixels: int, rates: Rates) -> float:
    """Seconds that a network takes for a frame of `pixels` with one face; 0 where nothing is known."""
    seconds = measured_seconds(one, choice, rates)
    return _items(role, recipe, pixels) * (seconds or (one.entry.operations or 0) / _rate(choice))


def measured_seconds(one: Located, choice: Choice, rates: Rates) -> float | None:
    """Seconds an item in the latest run on this machine, if there was one."""
    return rates.get(key(one.entry.id, f"{choice.device.name} ({choice.device.full_name})", choice.precision))


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
