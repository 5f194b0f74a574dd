"""Telling pictures and videos from other files."""

from __future__ import annotations

from pathlib import Path

from mien.cli.console import complain
from mien.errors import MediaError, UnsupportedMediaError, UsageError
from mien.media.encoding import CONTAINERS
from mien.media.probe import probe
from mien.media.stills.formats import FORMATS
from mien.recipe import Recipe

_SUFFIXES = frozenset({".gif", ".apng", *CONTAINERS, *(name for entry in FORMATS.values() for name in entry.suffixes)})


def is_media(path: Path) -> bool:
    """Whether a file of a folder is a target: a picture or video by its content, whatever its name.

    One that is called like a picture or video but cannot be read is a target as well: its job will say what is wrong.
    What is left out is told on standard error.
    """
    try:
        probe(path)
    except MediaError as error:
        if path.suffix.lower() in _SUFFIXES or isinstance(error, UnsupportedMediaError):
            return True
        complain(f"left out: {error}")
        return False
    return True


def check_sources(recipe: Recipe) -> None:
    """Catch targets that stand among the sources because the shell has expanded a pattern.

    Raises:
        UsageError: there are several sources and one of them is a video.
        UnreadableError: a source cannot be read.
    """
    if len(recipe.sources) < 2:
        return
    for source in recipe.sources:
        if probe(source).kind == "video":
            raise UsageError(
                f"{source} is a video, but stands among the SOURCE pictures: only the last name is the target; "
                "to change several videos, put a pattern in quotes or name their folder"
            )
