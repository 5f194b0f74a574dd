"""Frames that do their work network by network: all of a chunk with the first ones, then all with the next."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mien.edit.steps import Steps

T = TypeVar("T")

CHUNKS_IN_FLIGHT = 3
"""Chunks in memory: one is read and followed, one edited, one encoded."""


@dataclass(frozen=True, slots=True)
class Chunking:
    """How frames take turns with networks that do not fit into memory together."""

    frames: int
    """Of a chunk."""
    groups: tuple[frozenset[str], ...]
    """Roles of networks that are loaded at the same time, in the order of use."""


def in_chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items; the last one may be shorter."""
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


def take_turns(courses: Iterable[Steps[None]], groups: Sequence[Collection[str]]) -> None:
    """Bring works to their ends: each goes on for as long as it needs the networks of the group whose turn it is.

    The works begin in their order; how far one is says nothing about the others.

    Args:
        courses: The works, which do not depend on each other.
        groups: Roles; one that is in several is waited for until the next of them.
    """
    known = frozenset[str]().union(*groups)
    live = [course for course in map(_Course, courses) if course.go(())]
    for group in itertools.cycle(groups):
        live = [course for course in live if course.go(group)]
        if not live:
            return
        if strangers := {course.needs for course in live} - known:
            raise ValueError(f"in no group: {strangers}")


@dataclass(slots=True)
class _Course:
    steps: Steps[None]
    needs: str | None = None
    begun: bool = False

    def go(self, group: Collection[str]) -> bool:
        """Go on as far as networks of the group do; whether there is more to do then."""
        while not self.begun or self.needs in group:
            self.begun, self.needs = True, next(self.steps, None)
        return self.needs is not None
