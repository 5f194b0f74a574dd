"""What loaded networks hold, as a meter shows it, and what was not given back when they left."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import TypeVar

from mien.engine.memory import Meter

S = TypeVar("S")

RELEASED_SHARE = 0.5
"""A network that frees less than this share of what was measured has not been given back."""
NOISE_BYTES = 16 * 1024**2
"""Differences below this are other work of the process."""


class Footprint:
    """Bytes of networks by key. One load or drop at a time: the caller sees to that."""

    def __init__(self, meter: Meter | None, shrink: Sequence[Callable[[], None]]) -> None:
        """Start with nothing known.

        Args:
            meter: Tells what is in use where the networks live; without one, what was expected is taken for true.
            shrink: Called after a load, and when memory was not given back: have arenas shrink.
        """
        self._meter = meter
        self._shrink = shrink
        self._known: dict[str, int] = {}
        self._retained_bytes = 0
        self._least_other_bytes: int | None = None

    @property
    def retained_bytes(self) -> int:
        """What networks that left held and the process has not given back."""
        return self._retained_bytes

    def need_bytes(self, key: str, expected_bytes: int) -> int:
        """What a network will hold: as measured before, else as expected."""
        return self._known.get(key, expected_bytes)

    def load(self, key: str, loader: Callable[[], S], expected_bytes: int) -> tuple[S, int]:
        """The loader's session and the bytes it holds: what the meter rose by, and retained memory it took unseen."""
        if self._meter is None:
            return loader(), expected_bytes
        before_bytes = self._meter.used_bytes()
        session = loader()
        self._shrink_all()  # Readers leave up to twice the size of a network in the heap.
        risen_bytes = max(0, self._meter.used_bytes() - before_bytes)
        reused_bytes = min(self._retained_bytes, max(0, self.need_bytes(key, expected_bytes) - risen_bytes))
        self._retained_bytes -= reused_bytes
        held_bytes = risen_bytes + reused_bytes
        # The least of several: other work of the process can only add to it.
        self._known[key] = min(held_bytes, self._known.get(key, held_bytes))
        return session, held_bytes

    def drop(self, held_bytes: int, release: Callable[[], None]) -> int:
        """Release a network of so many bytes; returns what the process kept of them, 0 if it is within the noise."""
        if self._meter is None:
            release()
            return 0
        before_bytes = self._meter.used_bytes()
        release()
        kept_bytes = held_bytes - (before_bytes - self._meter.used_bytes())
        if _is_retained(kept_bytes, held_bytes):
            gc.collect()
            self._shrink_all()
            kept_bytes = held_bytes - (before_bytes - self._meter.used_bytes())
        if not _is_retained(kept_bytes, held_bytes):
            return 0
        kept_bytes = min(kept_bytes, held_bytes)
        self._retained_bytes += kept_bytes
        return kept_bytes

    def settle(self, held_bytes: int) -> None:
        """Find retained memory free again, while networks hold `held_bytes` together.

        It cannot be more than what has come to the process, beside its networks, since it held least.
        """
        if self._meter is None:
            return
        other_bytes = self._meter.used_bytes() - held_bytes
        least = other_bytes if self._least_other_bytes is None else min(self._least_other_bytes, other_bytes)
        self._least_other_bytes = least
        self._retained_bytes = min(self._retained_bytes, other_bytes - least)

    def _shrink_all(self) -> None:
        for shrink in self._shrink:
            shrink()


def _is_retained(kept_bytes: int, held_bytes: int) -> bool:
    return kept_bytes > NOISE_BYTES and kept_bytes > (1 - RELEASED_SHARE) * held_bytes
