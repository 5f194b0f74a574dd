"""Storage in a local folder, which several machines may share."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mien.errors import UnreadableError, UnwritableError, UsageError
from mien.service.storage import Stored

_PIECE_BYTES = 1 << 20
_BESIDE = ".part-"
"""Files that are being written have names with this in front, which are listed to nobody."""

_ABANDONED_S = 3600.0
"""Nobody writes to a file that has not changed for so long."""
_TRIES = 1000
"""Of making a folder and renaming into it before it is gone again: more than anybody can spoil."""


class FolderStorage:
    """Files under one folder; a key is a path in it."""

    def __init__(self, root: str | Path) -> None:
        """Open or make it.

        Raises:
            UnwritableError: it cannot be made.
        """
        self.root = Path(root).absolute()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            _clear_abandoned(self.root)
        except OSError as error:
            raise UnwritableError(f"the storage {root} cannot be made: {error.strerror}") from error

    def path(self, key: str) -> Path:
        """Where a key's file lies.

        Raises:
            UsageError: the key would lead out of the folder.
        """
        names = key.split("/")
        if not all(names) or any(name in (".", "..") or name.startswith(_BESIDE) or "\0" in name for name in names):
            raise UsageError(f"'{key}' is no key: give names with slashes between them")
        return self.root.joinpath(*names)

    def put(self, path: Path, key: str) -> None:
        """Store a file; see `Storage`."""
        target, part = self.path(key), self.root / f"{_BESIDE}{secrets.token_hex(8)}"
        try:
            _copy(path, part)
            _rename(part, target)
        except OSError as error:
            raise UnwritableError(f"{key} cannot be stored in {self.root}: {error.strerror}") from error
        finally:
            part.unlink(missing_ok=True)

    def read(self, key: str, first: int = 0, size: int | None = None) -> Iterator[bytes]:
        """The bytes of a file; see `Storage`."""
        try:
            with self.path(key).open("rb") as file:
                file.seek(first)
                left = size
                while piece := file.read(_PIECE_BYTES if left is None else min(_PIECE_BYTES, left)):
                    left = None if left is None else left - len(piece)
                    yield piece
        except OSError as error:
            raise UnreadableError(f"{key} cannot be read from {self.root}: {error.strerror}") from error

    def delete(self, key: str) -> None:
        """Remove a file, and the folders that it leaves empty; see `Storage`."""
        path = self.path(key)
        try:
            path.unlink(missing_ok=True)
            for folder in path.parents:
                if folder == self.root:
                    return
                folder.rmdir()
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                raise UnwritableError(f"{key} cannot be deleted from {self.root}: {error.strerror}") from error

    def list(self, prefix: str = "") -> Iterator[Stored]:
        """Files by the beginning of their keys; see `Storage`."""
        folder = prefix.rsplit("/", 1)[0] if "/" in prefix else ""
        paths = (Path(place, name) for place, _, names in os.walk(self.root / folder) for name in names)
        keys = (path.relative_to(self.root).as_posix() for path in paths if not path.name.startswith(_BESIDE))
        for key in sorted(key for key in keys if key.startswith(prefix)):
            with suppress(FileNotFoundError):  # Deleted meanwhile.
                state = self.path(key).stat()
                yield Stored(key, state.st_size, state.st_mtime)


def _clear_abandoned(root: Path) -> None:
    """Remove what processes were writing when they were killed."""
    for part in root.glob(f"{_BESIDE}*"):
        with suppress(FileNotFoundError):
            if time.time() - part.stat().st_mtime > _ABANDONED_S:
                part.unlink()


def _copy(source: Path, part: Path) -> None:
    """Copy so that the bytes are on the disk when it returns."""
    with source.open("rb") as reader, part.open("xb") as writer:
        shutil.copyfileobj(reader, writer, _PIECE_BYTES)
        writer.flush()
        os.fsync(writer.fileno())


def _rename(part: Path, target: Path) -> None:
    """Rename into a folder that others may take away at any moment, because they delete its last file."""
    for last in (*[False] * _TRIES, True):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, target)
            return
        except (FileNotFoundError, FileExistsError):
            if last:
                raise
