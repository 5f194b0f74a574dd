"""Recipes that come over the network: which fields they may have, and how they name files.

A file is an asset's id (`asset_...`, also written `asset:asset_...`) or a link; the output is a bare file name. What
concerns the machine that runs the job is for the service to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from mien.service.problems import refuse
from mien.service.records import ASSET

OPERATORS_FIELDS = frozenset(
    {
        "certificate",
        "device",
        "memory_budget",
        "models",
        "overwrite",
        "precision",
        "price_per_hour",
        "private_key",
        "restorer_family",
        "resume",
        "swapper_family",
    }
)
"""Recipe fields that name files, devices or habits of the service's own machines."""
_NETWORKS = ("swapper", "restorer", "upscaler", "occluder", "parser")
_NETWORK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]*")
_FILE_SUFFIXES = (".onnx", ".dfm")
_FILE_NAME = re.compile(r"[^/\\\x00-\x1f\x7f]{1,200}")

Fields = Mapping[str, Any]


def check_fields(recipe: Fields) -> None:
    """Refuse what only a local recipe may say.

    Raises:
        Problem: recipe.
    """
    if own := sorted(OPERATORS_FIELDS & set(recipe)):
        refuse("recipe", f"'{own[0]}' is for the service to say: leave it out", field=own[0])
    for name in _NETWORKS:
        value = recipe.get(name)
        if isinstance(value, str) and (not _NETWORK_ID.fullmatch(value) or value.lower().endswith(_FILE_SUFFIXES)):
            refuse("recipe", f"{name} = '{value:.100}' is no network of the service: name one by its id", field=name)
    output = recipe.get("output")
    if output is not None and (
        not isinstance(output, str) or not _FILE_NAME.fullmatch(output) or output.startswith(".")
    ):
        refuse("recipe", "'output' is a bare file name, such as result.mp4", field="output")


def files_of(recipe: Fields) -> list[str]:
    """Everything that a recipe names as a file, each once, the target first.

    Raises:
        Problem: recipe, if one is no text.
    """
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    with_files(recipe, note)
    return list(dict.fromkeys(found))


def with_files(recipe: Fields, change: Callable[[str], str]) -> dict[str, Any]:
    """The recipe with every file's name changed.

    Raises:
        Problem: recipe, if a name is no text.
    """
    changed = dict(recipe)
    for field in ("target", "reference"):
        if recipe.get(field) is not None:
            changed[field] = change(_text(field, recipe[field]))
    if "sources" in recipe:
        changed["sources"] = [change(name) for name in _texts("sources", recipe["sources"])]
    if "map" in recipe:
        changed["map"] = [_with_person(entry, change) for entry in _list("map", recipe["map"])]
    return changed


def asset_id(name: str) -> str:
    """The id in either way of writing it."""
    return name.removeprefix(ASSET)


def source_groups(recipe: Fields) -> list[list[str]]:
    """The source pictures of each person."""
    if recipe.get("map"):
        return [_texts("map", entry["sources"]) for entry in recipe["map"]]
    return [_texts("sources", recipe["sources"])] if recipe.get("sources") else []


def references(recipe: Fields) -> list[str]:
    """The reference pictures."""
    own = [recipe["reference"]] if recipe.get("reference") else []
    return [*own, *(entry["reference"] for entry in recipe.get("map", []))]


def _with_person(entry: Any, change: Callable[[str], str]) -> dict[str, Any]:
    if not isinstance(entry, Mapping) or set(cast("Mapping[str, Any]", entry)) != {"sources", "reference"}:
        refuse("recipe", "an entry of 'map' has exactly 'sources' and 'reference'", field="map")
    person = cast("Mapping[str, Any]", entry)
    return {
        "sources": [change(name) for name in _texts("map", person["sources"])],
        "reference": change(_text("map", person["reference"])),
    }


def _texts(field: str, value: Any) -> list[str]:
    return [_text(field, one) for one in ([value] if isinstance(value, str) else _list(field, value))]


def _list(field: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        refuse("recipe", f"'{field}' is a list", field=field)
    return list(cast("list[Any]", value))


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        refuse("recipe", f"'{field}' names files by the ids of assets or by links", field=field)
    return value
