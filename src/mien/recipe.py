"""The one declarative object that says what a job is; every door (command, Python, HTTP, queue) carries it."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from mien.errors import RecipeError, UnreadableError, UnwritableError

DEFAULT_REFERENCE_DISTANCE = 0.6
"""Euclidean distance of two bundled identity embeddings under which they show one person (dlib's own bound)."""


class Position(NamedTuple):
    """A place in the target: either a time or a frame number."""

    seconds: float | None
    frame: int | None

    @classmethod
    def parse(cls, text: str) -> Position:
        """Read `12.5`, `01:02.5`, `hh:mm:ss.mmm` or `120f`.

        Raises:
            RecipeError: the text is none of these.
        """
        if match := re.fullmatch(r"([0-9]+)f", text):
            return cls(None, int(match[1]))
        if re.fullmatch(r"(?:[0-9]+:){0,2}[0-9]+(?:\.[0-9]+)?", text):
            seconds = 0.0
            for part in text.split(":"):
                seconds = seconds * 60 + float(part)
            return cls(seconds, None)
        raise RecipeError(f"'{text}' is not a position: give seconds (12.5), hh:mm:ss.mmm or frames (120f)")


@dataclass(frozen=True, slots=True)
class PersonMap:
    """Whose face (`source` pictures) goes onto whom (the person in `reference`)."""

    sources: tuple[str, ...]
    reference: str

    def __post_init__(self) -> None:
        if not self.sources or not all(_is_name(name) for name in (*self.sources, self.reference)):
            raise RecipeError(
                "an entry of 'map' names one or more source pictures and one reference picture, "
                f"got sources {self.sources!r} and reference {self.reference!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One job. Paths are text, as given; nothing is opened before the job is planned.

    Raises:
        RecipeError: a field has a wrong type or range, or two fields are at odds.
    """

    target: str
    """Picture or video whose faces are replaced."""
    output: str
    """File that is written."""
    sources: tuple[str, ...] = ()
    """Pictures of the person whose face appears (several are averaged)."""
    faces: str = "all"
    """Who is replaced: `all`, `largest`, or a number counted from the left, starting at 0."""
    reference: str | None = None
    """Picture of the only person in the target to be replaced."""
    reference_distance: float = DEFAULT_REFERENCE_DISTANCE
    """Identity distance under which a face counts as the reference's, 0..2."""
    map: tuple[PersonMap, ...] = ()
    """Several people at once; instead of `sources`."""
    start: str | None = None
    """First moment to keep (see `Position.parse`)."""
    end: str | None = None
    """First moment no longer kept."""
    codec: str = "auto"
    """Video encoder; `auto` keeps the target's codec where an encoder for it exists."""
    crf: int | None = None
    """Constant quality of the encoder; None = visually lossless for the codec."""
    preset: str | None = None
    """Speed preset of the encoder; None = the encoder's own default."""
    audio: Literal["keep", "none"] = "keep"
    """Copy the target's audio, or leave it out."""
    effects: tuple[str, ...] = ("swap",)
    """Effects in the order they are applied."""
    shape: float = 1.0
    """How much of the source's proportions is carried, 0 = none, 1 = all."""
    device: str = "auto"
    """`auto`, `cpu`, `gpu`, ..."""
    precision: str = "auto"
    """`auto`, `fp32` or `bf16`."""
    segment_seconds: float = 10.0
    """Length of the independent parts a video is processed in."""
    resume: bool = False
    """Go on with the finished parts of an earlier run."""
    overwrite: bool = False
    """Replace an output that exists."""
    allow_no_face: bool = False
    """A target without any face to replace is copied instead of an error."""
    price_per_hour: float | None = None
    """Price of an hour of this machine, in any currency, for the report."""

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise RecipeError(problem)

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> Recipe:
        """Build from plain data, as read from TOML or JSON. Lists become tuples.

        Raises:
            RecipeError: a field is unknown, missing, of the wrong type, or fields are at odds.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(fields) - known):
            raise RecipeError(f"unknown recipe field '{unknown[0]}': the fields are {', '.join(sorted(known))}")
        if missing := [name for name in ("target", "output") if name not in fields]:
            raise RecipeError(f"the recipe has no '{missing[0]}'")
        return cls(**{name: _plain_to_field(name, value) for name, value in fields.items()})

    @classmethod
    def load(cls, path: str | Path, **changes: Any) -> Recipe:
        """Read a `.toml` or `.json` recipe; `changes` win over the file.

        Raises:
            UnreadableError: the file cannot be read or parsed.
            RecipeError: what it says does not hold together.
        """
        return cls.from_mapping({**load_fields(path), **changes})

    def to_mapping(self) -> dict[str, Any]:
        """Plain data with the fields that differ from their defaults, in field order."""
        result: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                result[field.name] = _field_to_plain(value)
        return result

    def save(self, path: str | Path) -> None:
        """Write as TOML, or as JSON if the name ends in `.json`.

        Raises:
            UnwritableError: the file cannot be written.
            RecipeError: a file name is not Unicode and so cannot stand in TOML.
        """
        path, fields = Path(path), self.to_mapping()
        try:
            if _is_json(path):
                # What is left to replace are lone surrogates; the replacement is JSON's own escape.
                text = json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
                path.write_text(text, encoding="utf-8", errors="backslashreplace")
            else:
                path.write_text(_to_toml(fields), encoding="utf-8")
        except OSError as error:
            raise UnwritableError(f"cannot write the recipe {path}: {error.strerror}") from error
        except UnicodeEncodeError as error:
            raise RecipeError(
                f"the recipe {path} names a file that is not Unicode ({error.object!r:.80}): save it as .json instead"
            ) from error


def load_fields(path: str | Path) -> dict[str, Any]:
    """The raw fields of a recipe file.

    Raises:
        UnreadableError: the file cannot be read or is neither TOML nor JSON.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableError(f"cannot read the recipe {path}: {reason}") from error
    try:
        fields = json.loads(text) if _is_json(path) else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(
            f"the recipe {path} is not valid {'JSON' if _is_json(path) else 'TOML'}: {error}"
        ) from error
    if not isinstance(fields, dict):
        raise UnreadableError(f"the recipe {path} holds no fields: write one 'name = value' a line")
    return cast(dict[str, Any], fields)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _problems(recipe: Recipe) -> Iterator[str]:
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
                if not (isinstance(item, PersonMap) if name == "map" else _is_name(item)):
                    yield f"recipe field '{name}' must be {what}, got {item!r} in it"
        elif isinstance(value, float) and not math.isfinite(value):
            yield f"recipe field '{name}' must be a finite number, got {value!r}"
        elif isinstance(value, str) and not _is_name(value):
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
    if recipe.precision not in ("auto", "fp32", "bf16"):
        yield f"precision = '{recipe.precision}': give auto, fp32 or bf16"
    if recipe.segment_seconds < 1:
        yield f"segment_seconds = {recipe.segment_seconds}: give at least 1 second"
    if recipe.price_per_hour is not None and recipe.price_per_hour < 0:
        yield f"price_per_hour = {recipe.price_per_hour}: give 0 or more"


def _conflicts(recipe: Recipe) -> Iterator[str]:
    if recipe.map and (recipe.sources or recipe.reference):
        yield "'map' names its own sources and references: leave out 'sources' and 'reference'"
    if not recipe.map and not recipe.sources and "swap" in recipe.effects:
        yield "no source picture: name at least one in 'sources'"
    start = Position.parse(recipe.start) if recipe.start is not None else None
    end = Position.parse(recipe.end) if recipe.end is not None else None
    if start and end:
        for first, last in ((start.seconds, end.seconds), (start.frame, end.frame)):
            if first is not None and last is not None and last <= first:
                yield f"end = {recipe.end} is not after start = {recipe.start}"


_Kind = tuple[tuple[type, ...], str]
_TEXT: _Kind = ((str,), "text of one character or more, without NUL")
_OPTIONAL_TEXT: _Kind = ((str, type(None)), _TEXT[1])
_NUMBER: _Kind = ((int, float), "a number")
_LIST: _Kind = ((tuple,), "a list of texts, each of one character or more, without NUL")
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
    "crf": ((int, type(None)), "a whole number"),
    "preset": _OPTIONAL_TEXT,
    "audio": _TEXT,
    "effects": _LIST,
    "shape": _NUMBER,
    "device": _TEXT,
    "precision": _TEXT,
    "segment_seconds": _NUMBER,
    "resume": _FLAG,
    "overwrite": _FLAG,
    "allow_no_face": _FLAG,
    "price_per_hour": ((int, float, type(None)), "a number"),
}


def _plain_to_field(name: str, value: Any) -> Any:
    if name == "map":
        return _read_map(value)
    if name in ("sources", "effects") and isinstance(value, str):
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


def _field_to_plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_field_to_plain(item) for item in cast(tuple[Any, ...], value)]
    if isinstance(value, PersonMap):
        return {"sources": list(value.sources), "reference": value.reference}
    return value


def _to_toml(fields: Mapping[str, Any]) -> str:
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
