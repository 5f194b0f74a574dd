"""Which waiting requests make the next batch, and when: pure functions, no clock, no threads.

The words are Triton's: a request has items (its batch axis); the queue delay is how long the first request of a batch
may wait for others. Batch sizes are those of the buckets and nothing between: what fills none runs in smaller ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request in the queue as the policy sees it."""

    job: str
    kind: Hashable
    """Requests of one kind (names, types and inner shapes) can share a batch."""
    items: int
    """Items that are not yet in a batch."""
    arrived_s: float


@dataclass(frozen=True, slots=True)
class Take:
    """The next `items` items of the request at `place` in the queue."""

    place: int
    items: int


@dataclass(frozen=True, slots=True)
class Form:
    """Run these as one batch, in this order."""

    takes: tuple[Take, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """Wait this long for more requests."""

    seconds: float


def largest_bucket(items: int, buckets: Sequence[int]) -> int:
    """The largest batch that so many items fill. Buckets are ascending and start at 1."""
    return max(bucket for bucket in buckets if bucket <= items)


def queue_delay_s(items: int, max_batch: int, longest_s: float) -> float:
    """How long a batch may wait to become fuller: not at all for one item, the longest for nearly a full batch."""
    if items >= max_batch:
        return 0.0
    return longest_s * (items - 1) / (max_batch - 1)


def form_batch(
    queue: Sequence[Waiting], buckets: Sequence[int], now_s: float, longest_delay_s: float, last_job: str | None = None
) -> Form | Hold:
    """The next batch out of a queue that is not empty.

    The kind is that of the oldest request. Each job gets an equal share of the batch, in the order of its requests;
    what a job does not need goes to the others. Where shares cannot be equal, the jobs after `last_job` get more.
    """
    kind = queue[0].kind
    places = [place for place, waiting in enumerate(queue) if waiting.kind == kind]
    items = sum(queue[place].items for place in places)
    waited_s = now_s - queue[places[0]].arrived_s
    delay_s = queue_delay_s(items, buckets[-1], longest_delay_s)
    if waited_s < delay_s:
        return Hold(delay_s - waited_s)
    shares = _shares(queue, places, largest_bucket(items, buckets), last_job)
    takes: list[Take] = []
    for place in places:
        taken = min(queue[place].items, shares[queue[place].job])
        shares[queue[place].job] -= taken
        if taken:
            takes.append(Take(place, taken))
    return Form(tuple(takes))


def _shares(queue: Sequence[Waiting], places: Sequence[int], size: int, last_job: str | None) -> dict[str, int]:
    """Items of each job in a batch of `size`, one to each in turn."""
    wanted: dict[str, int] = {}
    for place in places:
        wanted[queue[place].job] = wanted.get(queue[place].job, 0) + queue[place].items
    turns = sorted(wanted)
    if last_job is not None:
        turns = [job for job in turns if job > last_job] + [job for job in turns if job <= last_job]
    shares = dict.fromkeys(turns, 0)
    while size:
        for job in turns:
            if size and shares[job] < wanted[job]:
                shares[job] += 1
                size -= 1
    return shares
