"""The one declarative object that says what a job is; every door (command, Python, HTTP, queue) carries it."""

from mien.recipe.files import load_fields
from mien.recipe.job import Recipe
from mien.recipe.terms import DEFAULT_REFERENCE_DISTANCE, GEOMETRIC, PersonMap, Position

__all__ = ["DEFAULT_REFERENCE_DISTANCE", "GEOMETRIC", "PersonMap", "Position", "Recipe", "load_fields"]
