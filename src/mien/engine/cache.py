"""Where compiled networks are kept, so that the next start is quick."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from pathlib import Path
from typing import NamedTuple

CACHE_VARIABLE = "MIEN_CACHE"
"""Environment variable that names another cache folder."""
_DIGEST_BYTES = 32
"""Of SHA-256, before each content."""


class Cache(NamedTuple):
    """The cache folder, or the reason why there is none."""

    folder: Path | None
    warning: str | None


def cache_root() -> Path:
    """`$MIEN_CACHE`, or `mien` in the user's own cache folder. It may not exist yet."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "mien"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mien"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mien"


def open_cache() -> Cache:
    """Make the folder for compiled networks. A folder that cannot be used costs a slower start, not the run."""
    try:
        folder = cache_root() / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        return Cache(None, _warning(str(error)))
    if not os.access(folder, os.W_OK | os.X_OK):
        return Cache(None, _warning(f"{folder} cannot be written"))
    return Cache(folder, None)


def load_blob(folder: Path, key: str) -> bytes | None:
    """What was kept under `key`; None if it is not there or damaged, which an engine might not notice."""
    try:
        kept = (folder / f"{key}.blob").read_bytes()
    except OSError:
        return None
    content = kept[_DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == kept[:_DIGEST_BYTES] else None


def store_blob(folder: Path, key: str, content: bytes) -> None:
    """Keep `content` under `key`, whole or not at all. A folder that takes no more costs a slower start next time."""
    part = folder / f".{key}.{secrets.token_hex(4)}"
    try:
        part.write_bytes(hashlib.sha256(content).digest() + content)
        part.replace(folder / f"{key}.blob")
    except OSError:
        part.unlink(missing_ok=True)


def _warning(reason: str) -> str:
    return (
        f"networks are compiled anew on every start, which costs about a second: {reason}; "
        f"set {CACHE_VARIABLE} to a folder that can be written"
    )
