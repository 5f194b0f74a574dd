"""The worker's side of the queue: dramatiq runs tasks on its threads, and our state says which.

There is one truth about what waits, who works on it and how often it was tried: `state`. So dramatiq's own queues,
which know neither tenants nor attempts and give a message back only when its whole process is gone, hold nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import dramatiq
from dramatiq.broker import Broker, Consumer, MessageProxy

from mien.service.state import Grant

_ACTOR, _QUEUE = "run", "tasks"


class Source(Protocol):
    """Where a worker's tasks come from."""

    def take(self) -> Sequence[Grant]:
        """Tasks to be run together, or none."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Wait until there may be some."""
        ...

    def give_back(self, grants: Sequence[Grant]) -> None:
        """Tasks that were taken and not begun."""
        ...


def make_worker(source: Source, run: Callable[[Sequence[Grant]], None], slots: int) -> dramatiq.Worker:
    """A worker whose threads, `slots` of them, run what the source gives."""
    broker = _Broker(source, slots)
    dramatiq.Actor(run, broker=broker, actor_name=_ACTOR, queue_name=_QUEUE, priority=0, options={})
    return dramatiq.Worker(broker, queues={_QUEUE}, worker_threads=slots, worker_timeout=200)


class _Broker(Broker):
    def __init__(self, source: Source, slots: int) -> None:
        super().__init__(middleware=[])
        self._source = source
        self._slots = slots

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30000) -> Consumer:
        del prefetch  # A task that waits in a worker would keep others from it: no more are taken than there are slots.
        return _Consumer(queue_name, self._source, self._slots, timeout / 1000)

    def declare_queue(self, queue_name: str) -> None:
        if queue_name not in self.queues:
            self.queues[queue_name] = None
            self.emit_after("declare_queue", queue_name)

    def declare_actor(self, actor: dramatiq.Actor[Any, Any]) -> None:
        self.declare_queue(actor.queue_name)
        self.actors[actor.actor_name] = actor


class _Consumer(Consumer):
    def __init__(self, queue: str, source: Source, slots: int, timeout_s: float) -> None:
        self._queue = queue
        self._source = source
        self._timeout_s = timeout_s
        self._free = threading.Semaphore(slots)

    def __next__(self) -> MessageProxy | None:
        if not self._free.acquire(timeout=self._timeout_s):
            return None
        if grants := self._source.take():
            return MessageProxy(dramatiq.Message(self._queue, _ACTOR, (grants,), {}, {}))
        self._free.release()
        self._source.wait(self._timeout_s)
        return None

    def ack(self, message: MessageProxy) -> None:
        del message  # What became of its tasks the state knows already.
        self._free.release()

    def nack(self, message: MessageProxy) -> None:
        self.ack(message)

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        for message in messages:
            self._source.give_back(message.args[0])
