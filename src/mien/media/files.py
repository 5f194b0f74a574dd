"""Reading files whole, and publishing outputs so that nothing half-written ever bears their name."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from mien.errors import UnreadableError, UnwritableError


def read_bytes(path: str | Path) -> bytes:
    """All bytes of a file.

    Raises:
        UnreadableError: it is missing, no regular file, empty, or may not be read.
    """
    return read_head(path, -1)


def read_head(path: str | Path, size: int) -> bytes:
    """The first `size` bytes of a file (fewer if it is shorter; all if `size` is -1).

    Raises:
        UnreadableError: it is missing, no regular file, empty, or may not be read.
    """
    path = Path(path)
    if path.is_dir():
        raise UnreadableError(f"{path} is a directory: name a picture or video file in it")
    if path.exists() and not path.is_file():
        # A pipe could be waited for without end, and it can be read only once.
        raise UnreadableError(f"{path} is a pipe, socket or device: save what comes from it to a file first")
    try:
        with path.open("rb") as file:
            data = file.read(size)
    except FileNotFoundError as error:
        raise UnreadableError(f"{path} does not exist: check the name") from error
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}") from error
    if not data:
        raise UnreadableError(f"{path} is empty (0 bytes): the copy or download may have failed, fetch it again")
    return data


@contextmanager
def writing(path: str | Path) -> Generator[None]:
    """Turn what the system raises while `path` is written into an error that says why.

    Raises:
        UnwritableError: no permission, no space, ...
    """
    try:
        yield
    except OSError as error:
        raise UnwritableError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def renaming(path: str | Path) -> Generator[Path]:
    """A path beside `path` to write to; renamed to `path` on a clean exit, deleted on an error of whoever writes.

    Raises:
        UnwritableError: the directory is missing, or the result cannot be renamed.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise UnwritableError(f"{path} cannot be written: the directory {path.parent} does not exist, make it first")
    part = path.with_name(f".{secrets.token_hex(4)}.part{path.suffix}")
    try:
        yield part
        with writing(path):
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def publish(path: str | Path) -> Generator[Path]:
    """As `renaming`, where the body does nothing but write: its errors are `writing`'s.

    Raises:
        UnwritableError: the directory is missing or read-only, or the disk is full.
    """
    with writing(path), renaming(path) as part:
        yield part


def write_bytes(path: str | Path, data: bytes, finish: Callable[[Path], None] | None = None) -> None:
    """Write a whole file, published by an atomic rename; `finish` is called with it before that.

    Raises:
        UnwritableError: the directory is missing or read-only, or the disk is full.
    """
    with publish(path) as part:
        part.write_bytes(data)
        if finish is not None:
            finish(part)
