"""Recipes as plain data and as files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from mien.errors import RecipeError, UnreadableError
from mien.recipe.rules import is_list
from mien.recipe.terms import PersonMap


def load_fields(path: str | Path) -> dict[str, Any]:
    """The raw fields of a recipe file.

    Raises:
        UnreadableError: the file cannot be read or is neither TOML nor JSON.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is no recipe: it is not text, but a recipe is TOML or JSON in UTF-8") from error
    except OSError as error:
        raise UnreadableError(f"cannot read the recipe {path}: {error.strerror}") from error
    try:
        fields = json.loads(text) if is_json(path) else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(
            f"the recipe {path} is not valid {'JSON' if is_json(path) else 'TOML'}: {error}"
        ) from error
    if not isinstance(fields, dict):
        raise UnreadableError(f"the recipe {path} holds no fields: write one 'name = value' a line")
    return cast(dict[str, Any], fields)


def is_json(path: Path) -> bool:
    """Whether a recipe of this name is JSON."""
    return path.suffix.lower() == ".json"


def plain_to_field(name: str, value: Any) -> Any:
    """A field's value of plain data."""
    if name == "map":
        return _read_map(value)
    if is_list(name) and isinstance(value, str):
        return (value,)
    if name == "faces" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if name in ("start", "end") and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{Decimal(str(value)):f}"
    return tuple(cast(list[Any], value)) if isinstance(value, list) else value


def _read_map(value: Any) -> tuple[PersonMap, ...]:
    if not isinstance(value, list | tuple):
        raise RecipeError(f"recipe field 'map' must be a list of {{sources, reference}}, got {value!r}")
    return tuple(_read_person_map(entry) for entry in cast(list[Any], value))


def _read_person_map(entry: Any) -> PersonMap:
    if isinstance(entry, PersonMap):
        return entry
    if not isinstance(entry, dict) or set(cast(dict[Any, Any], entry)) != {"sources", "reference"}:
        raise RecipeError(f"an entry of 'map' has exactly 'sources' and 'reference', got {entry!r}")
    sources, reference = entry["sources"], entry["reference"]
    if isinstance(sources, list | tuple):
        return PersonMap(tuple(cast(list[Any], sources)), reference)
    return PersonMap((cast(Any, sources),), reference)


def field_to_plain(value: Any) -> Any:
    """The inverse of `plain_to_field`."""
    if isinstance(value, tuple):
        return [field_to_plain(item) for item in cast(tuple[Any, ...], value)]
    if isinstance(value, PersonMap):
        return {"sources": list(value.sources), "reference": value.reference}
    return value


def to_toml(fields: Mapping[str, Any]) -> str:
    """Plain data as TOML."""
    # Tables of arrays come last: what follows a table header belongs to it.
    lines = [f"{name} = {_toml_value(value)}" for name, value in fields.items() if name != "map"]
    for entry in fields.get("map", []):
        lines += ["", "[[map]]", *(f"{name} = {_toml_value(value)}" for name, value in entry.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(item) for item in cast(list[Any], value)) + "]"
    # JSON's strings, numbers and booleans are TOML's as well, once DEL is escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
