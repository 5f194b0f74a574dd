"""Writing the pictures that the commands draw themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.cli.console import check_folder
from mien.errors import UnsupportedMediaError, UnwritableError, UsageError
from mien.media.files import publish

_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})
_QUALITY = 92
"""For the formats that lose something: no visible artefacts on letters."""


def check_output(path: Path, inputs: Sequence[Path], *, overwrite: bool) -> None:
    """Make sure before long work that `path` may be written.

    Raises:
        UsageError: it is one of the files that are read.
        UnwritableError: its folder is missing, or it exists and `overwrite` was not given.
    """
    check_folder(path)
    if not path.exists():
        return
    if any(one.exists() and one.samefile(path) for one in inputs):
        raise UsageError(f"{path} is the file to be read: give the output another name")
    if not overwrite:
        raise UnwritableError(f"{path} exists already: give --overwrite to replace it, or another name")


def is_picture_name(path: Path) -> bool:
    """Whether the suffix is one that `save_picture` writes."""
    return path.suffix.lower() in _SUFFIXES


def check_picture_name(path: Path) -> None:
    """Make sure that `save_picture` can write `path`.

    Raises:
        UnsupportedMediaError: the suffix is not that of a picture.
    """
    if not is_picture_name(path):
        raise UnsupportedMediaError(
            f"'{path.name}' is no name for a picture: use one of {', '.join(sorted(_SUFFIXES))}"
        )


def save_picture(pixels: NDArray[np.uint8], path: Path) -> None:
    """Write RGB (height, width, 3); nothing half-written ever bears the name.

    Raises:
        UnsupportedMediaError: see `check_picture_name`.
        UnwritableError: see `publish`.
    """
    if not is_picture_name(path):
        raise UnsupportedMediaError(
            f"'{path.name}' is no name for a picture: use one of {', '.join(sorted(_SUFFIXES))}"
        )
    with publish(path) as part:
        Image.fromarray(pixels).save(part, quality=_QUALITY)
