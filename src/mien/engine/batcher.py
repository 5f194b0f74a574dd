"""One batcher for each network: requests of faces, frames, tiles and jobs run together.

The contract:

- `run(job, inputs)` blocks; `submit(job, inputs)` returns a future; `session(job)` is a `Session` for code that knows
  no batchers. A request has one item or more: the first axis of its inputs. Its outputs come back whole, in its order.
- Batches have the sizes of the buckets, never padded; a request that fills none runs in parts, a larger one too.
- Requests whose names, types or inner shapes differ never share a batch: a bad one fails alone. What the engine
  raises, all members of the batch get; the batcher goes on.
- A blocking request that finds nothing running runs in its caller's thread, with no delay and no hop. Otherwise it is
  queued, and the queue is served by threads of the batcher (`runners`) by the policy of `batching.form_batch`.
- Cancelling a future takes its request out of the queue unless it has begun. `close` (or the end of the `with` block)
  refuses new requests and waits for those in the queue.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType

from mien.engine.batching import Form, form_batch, largest_bucket
from mien.engine.requests import Outputs, Part, Request, make_request, merged, rows
from mien.engine.session import Ran, Session, Tensors, Usage
from mien.errors import EngineError

DEFAULT_BUCKETS = (1, 2, 4, 8)
LONGEST_DELAY_S = 0.002
"""Small beside any network that gains from batches."""
KEPT_WAITS = 2048
"""Requests over which the wait is told."""


@dataclass(frozen=True, slots=True)
class BatchFigures:
    """What a batcher has done so far."""

    batches: int
    items: int
    p95_wait_s: float
    """Between a request's arrival and its first batch, over the latest requests."""

    @property
    def mean_size(self) -> float:
        """Items a batch; 0 before the first."""
        return self.items / self.batches if self.batches else 0.0


class Batcher:
    """Merges requests to one session. Safe to use from several threads. See the module for the contract."""

    def __init__(
        self,
        session: Session,
        *,
        buckets: Sequence[int] = DEFAULT_BUCKETS,
        longest_delay_s: float = LONGEST_DELAY_S,
        runners: int = 1,
    ) -> None:
        """Nothing is started until requests meet.

        Args:
            session: The network.
            buckets: Batch sizes, ascending, the first 1.
            longest_delay_s: The most that a request waits for others while the session is free.
            runners: Batches that may run side by side.
        """
        self._session = session
        self._buckets = tuple(buckets)
        self._longest_delay_s = longest_delay_s
        self._runners = runners
        self._changed = threading.Condition()
        self._queue: list[Request] = []
        self._threads: list[threading.Thread] = []
        self._running = 0
        self._closed = False
        self._last_job: str | None = None
        self._batches = 0
        self._items = 0
        self._waits_s: deque[float] = deque(maxlen=KEPT_WAITS)

    def __enter__(self) -> Batcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def ran(self) -> Ran:
        """What really runs the network."""
        return self._session.ran

    @property
    def figures(self) -> BatchFigures:
        """Batches, their mean size and how long requests waited."""
        with self._changed:
            waits_s = sorted(self._waits_s)
            p95_wait_s = waits_s[math.ceil(0.95 * len(waits_s)) - 1] if waits_s else 0.0
            return BatchFigures(self._batches, self._items, p95_wait_s)

    def session(self, job: str) -> JobSession:
        """The network for one job: a session whose usage is that job's own."""
        return JobSession(self, job)

    def run(self, job: str, inputs: Tensors, *, usage: Usage | None = None) -> Outputs:
        """Run one request and wait for it.

        Args:
            job: Whose it is: jobs get equal shares.
            inputs: First axis = items, the same for all.
            usage: Totals to which the request is added, with its share of the batches' seconds.

        Raises:
            EngineError: the inputs are not a batch, the engine failed, or the batcher is closed.
        """
        request = make_request(job, inputs, usage)
        with self._changed:
            busy = self._queue or self._running >= self._runners
            if busy:
                self._enqueue(request)
            else:
                self._check_open()
                self._running += 1
                self._waits_s.append(0.0)
        if busy:
            try:
                return request.future.result()
            finally:
                request.future.cancel()
        try:
            return self._run_here(request)
        finally:
            self._ran_one()

    def submit(self, job: str, inputs: Tensors, *, usage: Usage | None = None) -> Future[Outputs]:
        """Queue one request: as `run`, but what the engine raises is in the future.

        Raises:
            EngineError: the inputs are not a batch, or the batcher is closed.
        """
        request = make_request(job, inputs, usage)
        with self._changed:
            self._enqueue(request)
        return request.future

    def cancel(self, job: str) -> None:
        """Take the requests of a job out of the queue; their futures are cancelled."""
        with self._changed:
            requests = [request for request in self._queue if request.job == job]
        for request in requests:
            request.future.cancel()

    def close(self) -> None:
        """Refuse new requests and wait until the queue has run. Closing twice does no harm."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._queue and not self._running)
        for thread in self._threads:
            thread.join()

    def _check_open(self) -> None:
        if self._closed:
            raise EngineError("a network takes no more requests: its batcher is closed")

    def _enqueue(self, request: Request) -> None:
        self._check_open()
        request.future.add_done_callback(lambda future: self._discard(request) if future.cancelled() else None)
        self._queue.append(request)
        if len(self._threads) < self._runners:
            self._threads.append(threading.Thread(target=self._serve, name="mien-batch", daemon=True))
            self._threads[-1].start()
        self._changed.notify_all()

    def _discard(self, request: Request) -> None:
        with self._changed:
            if request in self._queue:
                self._queue.remove(request)
                self._changed.notify_all()

    def _run_here(self, request: Request) -> Outputs:
        """Run all of a request in this thread."""
        first = 0
        while first < request.items:
            size = largest_bucket(request.items - first, self._buckets)
            part = Part(request, first, size)
            request.parts[first] = self._run_batch(part.inputs(), [part])
            first += size
        return request.whole()

    def _serve(self) -> None:
        while parts := self._next_batch():
            try:
                self._run_parts(parts)
            finally:
                self._ran_one()

    def _next_batch(self) -> list[Part]:
        """Wait for the next batch; none when the batcher is closed and has nothing left."""
        with self._changed:
            while self._queue or not self._closed:
                if not self._queue or self._running >= self._runners:
                    self._changed.wait()
                    continue
                views = [request.view() for request in self._queue]
                now_s = time.monotonic()
                decision = form_batch(views, self._buckets, now_s, self._longest_delay_s, self._last_job)
                if not isinstance(decision, Form):
                    self._changed.wait(decision.seconds)
                elif self._begin([self._queue[take.place] for take in decision.takes], now_s):
                    self._running += 1
                    return self._take([(self._queue[take.place], take.items) for take in decision.takes])
            return []

    def _begin(self, requests: Sequence[Request], now_s: float) -> bool:
        """Mark as begun; False if one was cancelled meanwhile, which then has left the queue."""
        fresh = [request for request in requests if not request.future.running()]
        for request in fresh:
            if request.future.set_running_or_notify_cancel():
                self._waits_s.append(now_s - request.arrived_s)
            else:
                self._queue.remove(request)
        return all(request.future.running() for request in fresh)

    def _take(self, takes: Sequence[tuple[Request, int]]) -> list[Part]:
        parts = [Part(request, request.taken, items) for request, items in takes]
        for part in parts:
            part.request.taken += part.items
            if part.request.taken == part.request.items:
                self._queue.remove(part.request)
        self._last_job = parts[-1].request.job
        return parts

    def _run_parts(self, parts: Sequence[Part]) -> None:
        try:
            outputs = self._run_batch(merged([part.inputs() for part in parts]), parts)
        except Exception as error:  # Whatever it is, it belongs to those who wait for it, not to this thread.
            for part in parts:
                self._fail(part.request, error)
            return
        if len(parts) == 1:
            self._finish(parts[0], outputs)
            return
        first = 0
        for part in parts:
            self._finish(part, rows(outputs, first, part.items))
            first += part.items

    def _run_batch(self, inputs: Tensors, parts: Sequence[Part]) -> Outputs:
        items = sum(part.items for part in parts)
        started = time.perf_counter()
        outputs = self._session.run(inputs)
        seconds = time.perf_counter() - started
        for name, value in outputs.items():
            # What is one item's alone needs no axis for the batch.
            if items > 1 and value.shape[:1] != (items,):
                model = self._session.ran.model
                raise EngineError(f"{model} cannot be batched: {items} items gave an output {name} {value.shape}")
        with self._changed:
            self._batches += 1
            self._items += items
            for part in parts:
                if part.request.usage is not None:
                    part.request.usage.calls += part.first == 0
                    part.request.usage.items += part.items
                    part.request.usage.seconds += seconds * part.items / items
        return outputs

    def _finish(self, part: Part, outputs: Outputs) -> None:
        with self._changed:
            part.request.parts[part.first] = outputs
            part.request.finished += part.items
            complete = part.request.complete
        if complete:
            part.request.future.set_result(part.request.whole())

    def _fail(self, request: Request, error: Exception) -> None:
        with self._changed:
            if request.failed:
                return
            request.failed = True
            if request in self._queue:
                self._queue.remove(request)
        request.future.set_exception(error)

    def _ran_one(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()


class JobSession:
    """A batched network as one job sees it: a `Session`."""

    def __init__(self, batcher: Batcher, job: str) -> None:
        self._batcher = batcher
        self._job = job
        self._usage = Usage()

    @property
    def ran(self) -> Ran:
        """What really runs the network."""
        return self._batcher.ran

    @property
    def usage(self) -> Usage:
        """The job's own requests, items and its share of the batches' seconds."""
        return Usage(self._usage.calls, self._usage.items, self._usage.seconds)

    def run(self, inputs: Tensors) -> Outputs:
        """Run one request.

        Raises:
            EngineError: the inputs are not a batch, or the engine failed.
        """
        return self._batcher.run(self._job, inputs, usage=self._usage)
