"""Where assets, parts and results lie. A key is a path of names with slashes; what a key holds never changes.

Nothing is ever published by renaming: each try writes under keys of its own, and the state says which of them counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Stored:
    """A file in storage."""

    key: str
    size_bytes: int
    changed_s: float
    """Unix time."""


class Storage(Protocol):
    """A folder, a bucket, ..."""

    def put(self, path: Path, key: str) -> None:
        """Store a file; `key` appears whole or not at all.

        Raises:
            UnwritableError: no space, no permission, no connection.
        """
        ...

    def read(self, key: str, first: int = 0, size: int | None = None) -> Iterator[bytes]:
        """The bytes from `first` on, `size` of them at most, in pieces.

        Raises:
            UnreadableError: there is no such file, or it cannot be read.
        """
        ...

    def delete(self, key: str) -> None:
        """Remove a file; one that is not there is none already.

        Raises:
            UnwritableError: no permission, no connection.
        """
        ...

    def list(self, prefix: str = "") -> Iterator[Stored]:
        """Files whose keys begin with `prefix`, in order.

        Raises:
            UnreadableError: no permission, no connection.
        """
        ...
