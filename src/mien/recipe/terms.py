"""The words of a recipe: moments, and who becomes whom."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from mien.errors import RecipeError

DEFAULT_REFERENCE_DISTANCE = 0.6
"""Euclidean distance of two bundled identity embeddings under which they show one person (dlib's own bound)."""
GEOMETRIC = "geometric"
"""The swapper that needs no network of its own."""


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
        if not self.sources or not all(is_name(name) for name in (*self.sources, self.reference)):
            raise RecipeError(
                "an entry of 'map' names one or more source pictures and one reference picture, "
                f"got sources {self.sources!r} and reference {self.reference!r}"
            )


def is_name(value: Any) -> bool:
    """Whether a value can name a file or a thing."""
    return isinstance(value, str) and value != "" and "\0" not in value
