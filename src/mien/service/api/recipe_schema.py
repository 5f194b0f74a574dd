"""The recipe as the API takes it: the fields of `mien.recipe.Recipe` that a tenant may set, with their descriptions."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import textwrap
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from mien.recipe import PersonMap, Recipe
from mien.service.remote_recipe import OPERATORS_FIELDS


class Person(BaseModel):
    """Whose face goes onto whom."""

    model_config = ConfigDict(extra="forbid")

    sources: list[str] = Field(min_length=1, description="Pictures of the person whose face appears.")
    reference: str = Field(description="Picture of the person in the target.")


def _descriptions() -> dict[str, str]:
    """What stands under each field of the recipe's class."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(Recipe)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for field, text in itertools.pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[field.target.id] = str(text.value.value)
    return found


def _fields() -> dict[str, Any]:
    types, words = get_type_hints(Recipe), _descriptions()
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(Recipe):
        if field.name in OPERATORS_FIELDS:
            continue
        kind, words_of_field = types[field.name], words.get(field.name, "")
        default = ... if field.name == "target" else field.default
        if field.name == "output":
            kind, default, words_of_field = str | None, None, "Name of the result; null = after the target."
        if kind == tuple[PersonMap, ...]:
            kind = tuple[Person, ...]
        fields[field.name] = (kind, Field(default, description=words_of_field))
    return fields


if TYPE_CHECKING:
    RecipeBody = BaseModel
else:
    RecipeBody = create_model(
        "Recipe",
        __config__=ConfigDict(extra="forbid", allow_inf_nan=False),
        __doc__="One job. Files are named by the ids of assets, or by links to storage that the operator allows.",
        **_fields(),
    )
