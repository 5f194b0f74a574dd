"""Things that are made once and found again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")
Key = tuple[str, ...]


class Once:
    """Keeps what was made by key; beyond a number, what was used longest ago goes. Safe to use from several threads."""

    def __init__(self, most: int | None = None) -> None:
        """Args:
        most: things that are kept; None = all.
        """
        self._most = most
        self._made: dict[Key, object] = {}
        """What was used last stands last."""
        self._making: dict[Key, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], T]) -> T:
        """What the key names; made by the first who asks while others wait. Whatever `make` raises is raised."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._made:
                    self._made[key] = self._made.pop(key)
                    return cast(T, self._made[key])
            made = make()
            with self._lock:
                self._made[key] = made
                self._trim()
            return made

    def forget(self, word: str) -> None:
        """Drop everything whose key holds a word."""
        with self._lock:
            for key in [key for key in self._made if word in key]:
                self._drop(key)

    def _trim(self) -> None:
        while self._most is not None and len(self._made) > self._most:
            self._drop(next(iter(self._made)))

    def _drop(self, key: Key) -> None:
        del self._made[key]
        self._making.pop(key, None)
