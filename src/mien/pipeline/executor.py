"""Run stages side by side. Order, back-pressure, cancellation and errors live here and nowhere else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Generic, TypeVar

from mien.errors import Interrupted

T = TypeVar("T")

IN_FLIGHT = 6
"""Items between the source and the end of the last stage: one for each of five stages and one to spare."""

_TICK_SECONDS = 0.1
"""How often the calling thread looks for progress and cancellation."""


@dataclass(frozen=True, slots=True)
class Stage(Generic[T]):
    """One step of the work: called with every item, in order, always from one and the same thread."""

    name: str
    work: Callable[[T], None]


@dataclass(frozen=True, slots=True)
class Execution:
    """What an execution did."""

    items: int
    """Items that went through every stage."""
    busy_seconds: dict[str, float]
    """Per stage (the source is one): seconds spent in its work, waiting left out."""
    first_done: float | None
    """`time.perf_counter()` when the first item had left the last stage."""


def execute(
    source: Iterable[T],
    stages: Sequence[Stage[T]],
    *,
    source_name: str = "decode",
    in_flight: int = IN_FLIGHT,
    tick: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Execution:
    """Send every item of `source` through all `stages`, each on its own thread, and return when all are done.

    At most `in_flight` items exist at a time. The first error, wherever it is raised, stops everything and is raised
    here once all threads have ended; so is a `KeyboardInterrupt` of the calling thread. If `source` is a generator it
    is closed by the thread that ran it.

    Args:
        source: iterated on a thread of its own.
        stages: at least one, in order.
        source_name: name of the source in `busy_seconds`.
        in_flight: bound of items in memory.
        tick: called from the calling thread with the number of finished items, whenever it has grown.
        cancelled: asked about ten times a second; True stops the work.

    Raises:
        Interrupted: `cancelled` said so.
    """
    run = _Run(source, stages, source_name, in_flight)
    run.start()
    try:
        _watch(run, tick or (lambda _done: None), cancelled or (lambda: False))
    except BaseException as error:
        run.fail(error)
        raise
    finally:
        run.join()
    if run.error is not None:
        raise run.error
    return Execution(run.done, run.busy, run.first_done)


def _watch(run: _Run[T], tick: Callable[[int], None], cancelled: Callable[[], bool]) -> None:
    told = 0
    while True:
        ended = run.ended.wait(_TICK_SECONDS)
        if (done := run.done) > told:
            tick(told := done)
        if ended:
            return
        if cancelled():
            raise Interrupted(f"stopped after {run.done} frames")


class _End:
    """Follows the last item through the queues."""


_END = _End()


@dataclass(slots=True)
class _Run(Generic[T]):
    source: Iterable[T]
    stages: Sequence[Stage[T]]
    source_name: str
    in_flight: int
    done: int = 0
    first_done: float | None = None
    error: BaseException | None = None
    busy: dict[str, float] = field(default_factory=dict[str, float])
    ended: threading.Event = field(default_factory=threading.Event)
    _failing: threading.Lock = field(default_factory=threading.Lock)
    _stopping: bool = False
    _permits: threading.Semaphore = field(init=False)
    _queues: list[SimpleQueue[T | _End]] = field(init=False)
    _threads: list[threading.Thread] = field(init=False)

    def __post_init__(self) -> None:
        self._permits = threading.Semaphore(self.in_flight)
        self._queues = [SimpleQueue() for _ in self.stages]
        self.busy = dict.fromkeys([self.source_name, *(stage.name for stage in self.stages)], 0.0)
        self._threads = [threading.Thread(target=self._guard, args=(self._read,), name=f"mien-{self.source_name}")]
        for number, stage in enumerate(self.stages):
            self._threads.append(
                threading.Thread(target=self._guard, args=(self._work, number), name=f"mien-{stage.name}")
            )

    def start(self) -> None:
        for thread in reversed(self._threads):
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def fail(self, error: BaseException) -> None:
        """Keep the first error and wake every thread so that it ends."""
        with self._failing:
            if self.error is None:
                self.error = error
        self._stopping = True
        self._permits.release()
        for queue in self._queues:
            queue.put(_END)
        self.ended.set()

    def _guard(self, body: Callable[..., None], *arguments: int) -> None:
        # Whatever ends a thread has to reach the caller: this is the one place that catches everything.
        try:
            body(*arguments)
        except BaseException as error:
            self.fail(error)

    def _read(self) -> None:
        iterator = iter(self.source)
        try:
            while self._permits.acquire() and not self._stopping:
                item = self._next(iterator)
                self._queues[0].put(item)
                if isinstance(item, _End):
                    return
        finally:
            if isinstance(iterator, Generator):
                iterator.close()

    def _next(self, iterator: Iterator[T]) -> T | _End:
        began = time.perf_counter()
        item = next(iterator, _END)
        self.busy[self.source_name] += time.perf_counter() - began
        return item

    def _work(self, number: int) -> None:
        stage, queue = self.stages[number], self._queues[number]
        following = self._queues[number + 1] if number + 1 < len(self.stages) else None
        while not isinstance(item := queue.get(), _End) and not self._stopping:
            began = time.perf_counter()
            stage.work(item)
            self.busy[stage.name] += time.perf_counter() - began
            if following is not None:
                following.put(item)
            else:
                self._finish_item()
            del item  # The last holder frees the frame before it waits for the next.
        if following is not None:
            following.put(_END)
        else:
            self.ended.set()

    def _finish_item(self) -> None:
        if self.first_done is None:
            self.first_done = time.perf_counter()
        self.done += 1
        self._permits.release()
