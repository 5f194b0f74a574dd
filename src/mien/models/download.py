"""Files fetched from a mirror: resumed where they broke off, checked while they arrive, published whole or not."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from mien.errors import ModelError, UnwritableError
from mien.models.checksum import CHUNK_BYTES, checksum_of
from mien.models.lock import locked
from mien.models.mirror import Interruption, Source, Transfer

OnBytes = Callable[[int, int | None], None]
"""Called with the bytes that are there and the size of the whole, if it is known."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a transfer that breaks off is taken up again."""

    attempts: int = 4
    """In a row without a single new byte."""
    pause_s: float = 1.0
    """Before the second attempt; doubled before each further one."""


PATIENCE = Patience()


def download(
    source: Source,
    target: Path,
    *,
    sha256: str,
    size: int | None = None,
    on_bytes: OnBytes = lambda _done, _total: None,
    patience: Patience = PATIENCE,
) -> None:
    """Fetch a file.

    What has arrived is kept in a hidden part beside `target` and the next call goes on from there. Two calls for the
    same file, of any processes, come one after the other, and the second finds the work done.

    Args:
        source: Where from.
        target: The file to make; its folder is made if it is missing.
        sha256: What the content must sum up to, 64 hexadecimal digits in lower case.
        size: What its size must be, if that is known.
        on_bytes: Hears of the progress.
        patience: When to give up.

    Raises:
        ModelError: the content is not the expected one (then nothing is kept), it is not on the mirror, or the transfer
            broke off once too often.
        UnwritableError: the target's folder cannot be written, or has too little space.
    """
    # The locks' files stay, in a folder of their own.
    with locked(target.parent / ".locks" / f"{target.name}.lock"):
        if target.is_file() and checksum_of(target, "sha256") == sha256:
            return
        with _Part(target.with_name(f".{target.name}.{sha256[:12]}.part")) as part:
            if part.sha256 != sha256:
                _fill(part, source, size, on_bytes, patience)
            if part.sha256 != sha256:
                found = part.sha256
                part.discard()
                raise ModelError(
                    f"what {source.url} holds is not the file that was asked for: its SHA-256 is {found}, "
                    f"not {sha256}; nothing is kept"
                )
            part.publish(target)


class _Part:
    """The beginning of a file, and its checksum as far as it goes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _writing(path):
            self._file = path.open("ab+")
        self._digest = hashlib.sha256()
        self.length = 0
        self._file.seek(0)
        while chunk := self._file.read(CHUNK_BYTES):
            self._digest.update(chunk)
            self.length += len(chunk)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def restart(self) -> None:
        """Forget what has arrived."""
        self._file.truncate(0)
        self._digest = hashlib.sha256()
        self.length = 0

    def append(self, chunk: bytes) -> None:
        with _writing(self.path):
            self._file.write(chunk)
        self._digest.update(chunk)
        self.length += len(chunk)

    def discard(self) -> None:
        self._file.close()
        self.path.unlink()

    def publish(self, target: Path) -> None:
        """Give the file its name, once its content is safe on the disk."""
        with _writing(target):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self.path, target)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if not self._file.closed:
            with _writing(self.path):
                self._file.close()
        if not self.length:
            self.path.unlink(missing_ok=True)


def _fill(part: _Part, source: Source, size: int | None, on_bytes: OnBytes, patience: Patience) -> None:
    """Have the whole file arrive, in as many attempts as it takes."""
    failures = 0
    while True:
        before = part.length
        try:
            with source.open(part.length) as transfer:
                _receive(part, transfer, source.url, size, on_bytes)
                return
        except Interruption as error:
            failures = 1 if part.length > before else failures + 1
            if failures >= patience.attempts:
                raise ModelError(
                    f"{error}; {part.length} bytes have arrived and are kept: give the same command again to go on"
                ) from error
        time.sleep(patience.pause_s * 2 ** (failures - 1))


def _receive(part: _Part, transfer: Transfer, url: str, size: int | None, on_bytes: OnBytes) -> None:
    if transfer.first != part.length:
        part.restart()
    total = size if transfer.total is None else transfer.total
    if size is not None and total != size:
        part.restart()
        raise ModelError(f"{url} has {total} bytes, not {size}: it is not the file that was asked for")
    if total is not None:
        _check_space(part, total - part.length)
    while chunk := transfer.stream.read(CHUNK_BYTES):
        part.append(chunk)
        if total is not None and part.length > total:
            part.restart()
            raise ModelError(f"{url} sends more than the {total} bytes of the file that was asked for")
        on_bytes(part.length, total)
    if total is not None and part.length < total:
        raise Interruption(f"{url} ended after {part.length} of {total} bytes")


def _check_space(part: _Part, needed: int) -> None:
    free = shutil.disk_usage(part.path.parent).free
    if free < needed:
        raise UnwritableError(
            f"{part.path.parent} has {free} bytes free and {needed} are needed: make room, or set MIEN_CACHE to "
            "another folder"
        )


@contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        hint = "make room" if error.errno == errno.ENOSPC else "set MIEN_CACHE to a folder that can be written"
        raise UnwritableError(f"{path} cannot be written: {error.strerror or error}; {hint}") from error
