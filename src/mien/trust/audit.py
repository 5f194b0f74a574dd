"""A log that only grows: each entry carries the hash of the one before, so that none can be changed or taken out.

One JSON object a line:

    {"number": 2, "time": "2026-03-01T09:30:00+00:00", "event": "consent.revoked", "facts": {"consent": "c-..."},
     "previous": "<hash of entry 1>", "hash": "<SHA-256 of this entry without its hash>"}

Beside it lies the number and hash of the last entry, by which a log that was cut short is found out. Entries name
records by their ids and nobody by name.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mien.errors import VaultError
from mien.media.files import writing
from mien.models.lock import locked
from mien.trust.vault import make_private_folder, write_private

_FIRST = "0" * 64
"""What the first entry carries for the hash of the one before."""
_LONGEST = 1 << 16
"""Bytes of an entry, at most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened."""

    number: int
    """From 1."""
    time: str
    """ISO 8601, UTC."""
    event: str
    """What, such as `consent.added`."""
    facts: dict[str, Any]
    """Of plain data."""
    previous: str
    """Hash of the entry before."""
    hash: str

    @classmethod
    def make(cls, number: int, time: str, event: str, facts: dict[str, Any], previous: str) -> Entry:
        """An entry with its hash."""
        return cls(number, time, event, facts, previous, _hash_of([number, time, event, facts, previous]))

    def is_sound(self) -> bool:
        """Whether its hash is that of its fields."""
        return self == Entry.make(self.number, self.time, self.event, self.facts, self.previous)


class AuditLog:
    """The log of one installation. Several threads and processes may write at once."""

    def __init__(self, path: Path) -> None:
        """Args:
        path: Of the log; it is made with its first entry.
        """
        self._path = path
        self._head_path = path.with_name(path.name + ".head")

    def append(self, event: str, **facts: Any) -> Entry:
        """Add an entry, on the disk when this returns.

        Raises:
            VaultError: the last entry is damaged.
            UnwritableError: no space, no permission.
        """
        make_private_folder(self._path.parent)
        with locked(self._path.with_name(f".{self._path.name}.lock")):
            number, previous = self._last()
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            entry = Entry.make(number + 1, time, event, facts, previous)
            with writing(self._path), self._path.open("ab") as file:
                file.write(_line(entry))
                file.flush()
                os.fsync(file.fileno())
            write_private(self._head_path, json.dumps([entry.number, entry.hash]).encode())
        return entry

    def entries(self) -> Iterator[Entry]:
        """All entries, the oldest first.

        Raises:
            VaultError: one was changed, moved or taken out; the message says which.
        """
        number, previous = 0, _FIRST
        for number, line in enumerate(self._lines(), start=1):
            entry = self._read(number, line)
            if entry.number != number or entry.previous != previous or not entry.is_sound():
                raise VaultError(f"entry {number} of {self._path} was changed, or one before it was taken out")
            previous = entry.hash
            yield entry
        if number < (said := self._head()[0]):
            raise VaultError(f"{self._path} was cut short: its last entry is number {number}, not {said}")

    def verify(self) -> int:
        """The number of entries.

        Raises:
            VaultError: the log is not as it was written; see `entries`.
        """
        return sum(1 for _ in self.entries())

    def _lines(self) -> list[bytes]:
        try:
            return self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise VaultError(f"the log {self._path} cannot be read: {error.strerror or error}") from error

    def _read(self, number: int, line: bytes) -> Entry:
        try:
            return Entry(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise VaultError(f"entry {number} of {self._path} is damaged ({error})") from error

    def _last(self) -> tuple[int, str]:
        """Number and hash of the last entry, which has to follow what was said of it when it was written."""
        head = self._head()
        line = self._last_line()
        if line is None:
            if head[0] == 0:
                return head
        else:
            last = self._read(head[0], line)
            # Whoever was stopped between log and head has left the head one behind.
            if last.is_sound() and head in ((last.number, last.hash), (last.number - 1, last.previous)):
                return last.number, last.hash
        raise VaultError(f"{self._path} does not end as it was written: nothing is added to a log that was changed")

    def _last_line(self) -> bytes | None:
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(size - _LONGEST, 0))
                return (file.read().splitlines() or [None])[-1]
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultError(f"the log {self._path} cannot be read: {error.strerror or error}") from error

    def _head(self) -> tuple[int, str]:
        """Number and hash of the last entry."""
        try:
            number, digest = json.loads(self._head_path.read_bytes())
        except FileNotFoundError:
            if self._path.exists():
                raise VaultError(f"{self._head_path} is missing, which says where {self._path} ends") from None
            return 0, _FIRST
        except (OSError, ValueError, TypeError) as error:
            raise VaultError(f"{self._head_path} cannot be read: {error}") from error
        return number, digest


def _line(entry: Entry) -> bytes:
    return json.dumps(asdict(entry), ensure_ascii=True).encode() + b"\n"


def _hash_of(fields: list[Any]) -> str:
    return hashlib.sha256(json.dumps(fields, ensure_ascii=True, sort_keys=True).encode()).hexdigest()
