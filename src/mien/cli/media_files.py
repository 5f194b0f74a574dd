"""Telling pictures and videos from other files."""

from __future__ import annotations

from pathlib import Path

from mien.cli.console import complain
from mien.errors import UnreadableError, UnsupportedMediaError
from mien.media.probe import probe


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
