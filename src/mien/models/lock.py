"""One at a time: locks that the system lets go when their holder ends, however it ends."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mien.errors import UnwritableError

if sys.platform == "win32":
    import msvcrt
    import time

    def _acquire(file: BinaryIO) -> None:
        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                return
            except OSError:
                time.sleep(0.1)  # It gives up after ten seconds; a download takes longer.

    def _try_acquire(file: BinaryIO) -> None:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
else:
    import fcntl

    def _acquire(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _try_acquire(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock named by a file, waiting for whoever has it: another process, or another thread.

    Raises:
        UnwritableError: the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as error:
        raise UnwritableError(f"{path} cannot be written: {error.strerror or error}; choose another folder") from error
    with file:
        _acquire(file)
        yield


def try_lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed; False at once if another, in this process or not, has the lock.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        _try_acquire(file)
    except BlockingIOError:
        return False
    return True
