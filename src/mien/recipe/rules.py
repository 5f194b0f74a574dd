"""What has to hold of a recipe's fields, each alone and together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from mien.recipe.terms import GEOMETRIC, PersonMap, Position, is_name

if TYPE_CHECKING:
    from mien.recipe.job import Recipe


def problems(recipe: Recipe) -> Iterator[str]:
    """What is wrong with a recipe, in a user's words."""
    wrong_types = list(_type_problems(recipe))
    yield from wrong_types
    if not wrong_types:
        yield from _range_problems(recipe)
        yield from _conflicts(recipe)


def _type_problems(recipe: Recipe) -> Iterator[str]:
    for name, (types, what) in _TYPES.items():
        value = getattr(recipe, name)
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            yield f"recipe field '{name}' must be {what}, got {value!r}"
        elif isinstance(value, tuple):
            for item in cast(tuple[Any, ...], value):
                if not _is_item(name, item):
                    yield f"recipe field '{name}' must be {what}, got {item!r} in it"
        elif isinstance(value, float) and not math.isfinite(value):
            yield f"recipe field '{name}' must be a finite number, got {value!r}"
        elif isinstance(value, str) and not is_name(value):
            yield f"recipe field '{name}' must be {what}, got {value!r}"


def _range_problems(recipe: Recipe) -> Iterator[str]:
    if recipe.faces not in ("all", "largest") and not re.fullmatch("[0-9]+", recipe.faces):
        yield f"faces = '{recipe.faces}': give all, largest, or a number counted from the left (0 is the first)"
    if not 0 < recipe.reference_distance <= 2:
        yield f"reference_distance = {recipe.reference_distance}: give a distance above 0, at most 2"
    if recipe.crf is not None and not 0 <= recipe.crf <= 63:
        yield f"crf = {recipe.crf}: give 0 (best) to 63, or leave it out for the codec's own default"
    if recipe.audio not in ("keep", "none"):
        yield f"audio = '{recipe.audio}': give keep or none"
    if not recipe.effects:
        yield "no effects: leave the field out for the default ('swap')"
    if not 0 <= recipe.shape <= 1:
        yield f"shape = {recipe.shape}: give 0 (none) to 1 (all)"
    if not 0 <= recipe.swapper_weight <= 1:
        yield f"swapper_weight = {recipe.swapper_weight}: give 0 to 1; 0.5 is the plain source"
    if recipe.pixel_boost is not None and recipe.pixel_boost < 1:
        yield f"pixel_boost = {recipe.pixel_boost}: give a multiple of the network's side, such as 256 or 512"
    for name in ("restorer_blend", "restorer_weight", "expression_strength", "mask_blur"):
        if not 0 <= getattr(recipe, name) <= 1:
            yield f"{name} = {getattr(recipe, name)}: give 0 to 1"
    if not recipe.mask:
        yield "no mask: leave the field out for the default ('box')"
    if len(recipe.mask_padding) != 4 or not all(0 <= percent < 50 for percent in recipe.mask_padding):
        yield f"mask_padding = {list(recipe.mask_padding)}: give 0 to 50 percent for top, right, bottom and left"
    if recipe.upscale not in (None, 2, 4, 8):
        yield f"upscale = {recipe.upscale}: give 2, 4 or 8 times, or leave it out"
    if recipe.licence_profile not in ("any", "non-commercial", "commercial"):
        yield f"licence_profile = '{recipe.licence_profile}': give any, non-commercial or commercial"
    if recipe.precision not in ("auto", "fp32", "bf16", "fp16", "int8"):
        yield f"precision = '{recipe.precision}': give auto, fp32, bf16, fp16 or int8"
    if recipe.marks not in ("none", "metadata", "all"):
        yield f"marks = '{recipe.marks}': give none, metadata or all"
    if recipe.label not in ("none", "en", "zh"):
        yield f"label = '{recipe.label}': give none, en or zh"
    if recipe.gate not in ("on", "off"):
        yield f"gate = '{recipe.gate}': give on or off"
    if not re.fullmatch(r"[ !#-\[\]-~]+", recipe.producer):
        yield f"producer = {recipe.producer!r}: give ASCII characters, none of them a quote or backslash"
    if recipe.segment_seconds < 1:
        yield f"segment_seconds = {recipe.segment_seconds}: give at least 1 second"
    if recipe.price_per_hour is not None and recipe.price_per_hour < 0:
        yield f"price_per_hour = {recipe.price_per_hour}: give 0 or more"


def _conflicts(recipe: Recipe) -> Iterator[str]:
    if recipe.map and (recipe.sources or recipe.reference):
        yield "'map' names its own sources and references: leave out 'sources' and 'reference'"
    # Some networks were trained for one person and need no picture of them.
    if not recipe.map and not recipe.sources and "swap" in recipe.effects and recipe.swapper == GEOMETRIC:
        yield "no source picture: name at least one in 'sources'"
    if (recipe.certificate is None) != (recipe.private_key is None):
        yield "'certificate' and 'private_key' belong together: give both, or none for this installation's own"
    start = Position.parse(recipe.start) if recipe.start is not None else None
    end = Position.parse(recipe.end) if recipe.end is not None else None
    if start and end:
        for first, last in ((start.seconds, end.seconds), (start.frame, end.frame)):
            if first is not None and last is not None and last <= first:
                yield f"end = {recipe.end} is not after start = {recipe.start}"


def _is_item(name: str, value: Any) -> bool:
    if name == "map":
        return isinstance(value, PersonMap)
    if _TYPES[name] == _NUMBERS:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return is_name(value)


_Kind = tuple[tuple[type, ...], str]
_TEXT: _Kind = ((str,), "text of one character or more, without NUL")
_OPTIONAL_TEXT: _Kind = ((str, type(None)), _TEXT[1])
_NUMBER: _Kind = ((int, float), "a number")
_LIST: _Kind = ((tuple,), "a list of texts, each of one character or more, without NUL")
_NUMBERS: _Kind = ((tuple,), "a list of numbers")
_WHOLE: _Kind = ((int, type(None)), "a whole number")
_FLAG: _Kind = ((bool,), "true or false")
_TYPES: dict[str, _Kind] = {
    "target": _TEXT,
    "output": _TEXT,
    "sources": _LIST,
    "faces": _TEXT,
    "reference": _OPTIONAL_TEXT,
    "reference_distance": _NUMBER,
    "map": ((tuple,), "a list of {sources, reference}"),
    "start": _OPTIONAL_TEXT,
    "end": _OPTIONAL_TEXT,
    "codec": _TEXT,
    "crf": _WHOLE,
    "preset": _OPTIONAL_TEXT,
    "audio": _TEXT,
    "effects": _LIST,
    "shape": _NUMBER,
    "swapper": _TEXT,
    "swapper_family": _OPTIONAL_TEXT,
    "swapper_weight": _NUMBER,
    "pixel_boost": _WHOLE,
    "detector": _OPTIONAL_TEXT,
    "landmarker": _OPTIONAL_TEXT,
    "recogniser": _TEXT,
    "restorer": _OPTIONAL_TEXT,
    "restorer_family": _OPTIONAL_TEXT,
    "restorer_blend": _NUMBER,
    "restorer_weight": _NUMBER,
    "expression_strength": _NUMBER,
    "mask": _LIST,
    "mask_blur": _NUMBER,
    "mask_padding": _NUMBERS,
    "mask_areas": _LIST,
    "mask_regions": _LIST,
    "occluder": _TEXT,
    "parser": _TEXT,
    "upscale": _WHOLE,
    "upscaler": _OPTIONAL_TEXT,
    "models": _LIST,
    "licence_profile": _TEXT,
    "strict": _FLAG,
    "memory_budget": _TEXT,
    "device": _TEXT,
    "precision": _TEXT,
    "marks": _TEXT,
    "label": _TEXT,
    "producer": _TEXT,
    "consent": _OPTIONAL_TEXT,
    "purpose": _OPTIONAL_TEXT,
    "gate": _TEXT,
    "certificate": _OPTIONAL_TEXT,
    "private_key": _OPTIONAL_TEXT,
    "segment_seconds": _NUMBER,
    "resume": _FLAG,
    "overwrite": _FLAG,
    "allow_no_face": _FLAG,
    "price_per_hour": ((int, float, type(None)), "a number"),
}


def is_list(name: str) -> bool:
    """Whether a field is a list of texts."""
    return _TYPES.get(name) == _LIST
