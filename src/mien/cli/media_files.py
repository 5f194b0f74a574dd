"""Telling pictures and videos from other files."""

from __future__ import annotations

from pathlib import Path

from mien.cli.console import complain
from mien.errors import UnreadableError, UnsupportedMediaError, UsageError
from mien.media.probe import probe
from mien.recipe import Recipe


def is_media(path: Path) -> bool:
    """Whether a file of a folder is a picture or video, by its content; what is not is told on standard error.

    A picture or video that this installation cannot handle is one all the same: its job will say what is missing.
    """
    try:
        probe(path)
    except UnsupportedMediaError:
        return True
    except UnreadableError as error:
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
