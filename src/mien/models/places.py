"""Where networks are looked for: the environment's variables and the folders that they, or users, name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mien.engine.cache import cache_root
from mien.errors import ModelError, UsageError

MODELS_VARIABLE = "MIEN_MODELS"
"""Folders with networks, separated as in PATH."""
MIRROR_VARIABLE = "MIEN_MIRROR"
"""Where downloads come from: an http, https or file URL, or a folder."""
OFFLINE_VARIABLE = "MIEN_OFFLINE"
"""Set to anything but 0: the network is never touched."""
REGISTER_VARIABLE = "MIEN_REGISTER"
"""The file that lists the user's own networks."""

_FACEFUSION_MODELS = Path(".assets") / "models"


def model_folders(given: Sequence[Path]) -> tuple[Path, ...]:
    """Folders to look in, in order: those given, then the environment's; of a FaceFusion folder, its models.

    Raises:
        UsageError: one is no folder.
    """
    named = [(folder, "--models") for folder in given]
    variable = os.environ.get(MODELS_VARIABLE, "")
    named += [(Path(folder), MODELS_VARIABLE) for folder in variable.split(os.pathsep) if folder]
    return tuple(found for folder, name in named for found in _folders(folder.expanduser(), name))


def _folders(folder: Path, named_by: str) -> Iterator[Path]:
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder: {named_by} names folders with networks")
    if (folder / _FACEFUSION_MODELS).is_dir():
        yield folder / _FACEFUSION_MODELS
    yield folder


def files_in(folder: Path) -> dict[str, Path]:
    """Files of a folder and of the folders in it, by name; where a name comes twice, the upper one.

    Raises:
        ModelError: one of the folders cannot be read.
    """
    found: dict[str, Path] = {}
    try:
        below = sorted(child for child in folder.iterdir() if child.is_dir() and not child.name.startswith("."))
        for place in (folder, *below):
            for file in sorted(place.iterdir()):
                if file.is_file():
                    found.setdefault(file.name, file)
    except OSError as error:
        raise ModelError(f"{error.filename} cannot be read: {error.strerror}; name another folder") from error
    return found


def download_folder() -> Path:
    """mien's own folder of downloaded networks. It may not exist yet."""
    return cache_root() / "models"


def digest_folder() -> Path:
    """Where checksums of files are remembered. It may not exist yet."""
    return cache_root() / "digests"


def register_file() -> Path:
    """`$MIEN_REGISTER`, or `models.toml` in mien's folder of the user's settings. It may not exist yet."""
    if chosen := os.environ.get(REGISTER_VARIABLE):
        return Path(chosen)
    return settings_folder() / "models.toml"


def settings_folder() -> Path:
    """mien's folder of the user's settings. It may not exist yet."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming")) / "mien"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "mien"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "mien"


def default_mirror() -> str | None:
    """The mirror that the environment names."""
    return os.environ.get(MIRROR_VARIABLE) or None


def is_offline() -> bool:
    """Whether the environment forbids the network."""
    return os.environ.get(OFFLINE_VARIABLE, "") not in ("", "0")
