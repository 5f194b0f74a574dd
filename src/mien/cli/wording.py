"""What is said of an error. Messages of the layers below name the recipe's fields; here these are options."""

from __future__ import annotations

import dataclasses
import re

from mien.errors import MienError
from mien.recipe import Recipe

_OTHERS = {"sources": "SOURCE", "target": "TARGET", "output": "-o OUT", "audio": "--no-audio"}
"""Fields whose option is not called like them."""


def explain(error: Exception) -> str:
    """One sentence about an error: its own message, or that it was not foreseen."""
    if isinstance(error, MienError):
        return with_options(str(error))
    text = f"{type(error).__name__}: {error}"
    return f"this is a fault in mien itself, please report it: {text} (--debug shows where)"


def with_options(message: str) -> str:
    """The message with every quoted field of the recipe, such as 'overwrite', as its option: --overwrite."""
    return re.sub(r"'(\w+)'", lambda quoted: _OPTIONS.get(quoted[1], quoted[0]), message)


_OPTIONS = {
    field.name: _OTHERS.get(field.name, f"--{field.name.replace('_', '-')}") for field in dataclasses.fields(Recipe)
}
