"""One job at a time writes an output: a lock beside it that ends with its holder, however that ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mien.errors import UnwritableError
from mien.models.lock import try_lock

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""What file systems without locks answer (some network and user-space ones)."""


@contextmanager
def claim(output: Path) -> Generator[tuple[str, ...]]:
    """Keep other jobs from writing `output`; gives warnings.

    The system lets the lock go when its process ends, so a job that was killed stops nobody. The empty file may stay
    then; the next job takes it, and takes it away.

    Raises:
        UnwritableError: another job has the output, in this process or another, or the lock cannot be made.
    """
    path = lock_path(output)
    try:
        file = path.open("ab")
    except OSError as error:
        raise UnwritableError(f"cannot write in {output.parent}, the output's directory: {error.strerror}") from error
    with file:
        warnings = _take(file, path, output)
        try:
            yield warnings
        finally:
            with suppress(OSError):  # Windows removes no open file: there it stays.
                path.unlink()


def lock_path(output: Path) -> Path:
    """The file whose lock means that `output` is being written."""
    return output.with_name(f".{output.name}.lock")


def _take(file: BinaryIO, path: Path, output: Path) -> tuple[str, ...]:
    try:
        # Who had the lock takes its file away when done: then this one is no longer what others would find.
        if try_lock(file) and _is_still_there(file, path):
            return ()
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return (f"{output.parent} is on a file system without locks: let no other job write {output.name} now",)
        raise UnwritableError(f"cannot lock {path}: {error.strerror or error}") from error
    raise UnwritableError(
        f"the output {output} is being written by another job: wait until it is done, or give another name"
    )


def _is_still_there(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
