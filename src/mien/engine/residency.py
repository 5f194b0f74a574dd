"""Networks come and go under a budget of bytes.

`Residency` holds loaded networks by key. The contract:

- `with residency.lease(key, loader) as session:` loads when first needed, once, whatever the number of threads. Loads
  and evictions run one at a time, so that their peaks do not add up and each can be measured.
- A network on lease never leaves. The least recently used idle one leaves when room is needed; one that nobody used
  for `idle_s` seconds leaves too.
- Bytes are measured, not declared: a network holds what the meter rose by while it was loaded. So a loader returns a
  session that has run once (warm-up): engines pack weights as late as the first run. `expected_bytes` stands for a
  network only until it has been measured.
- When a network leaves, the meter must fall. If it does not, the heap is shrunk and measured again. What is still
  there is retained: said in an event and a warning, and taken off the budget until it is found free. Too much of it
  asks for a restart of the worker (event `restart`), which only its owner can do.
- What is held exceeds the budget by no more than the one network being loaded, and only if it is larger than expected.
- A thread may hold several leases. If all holders wait for more, none would ever give back: the one that closes the
  ring is refused. A lease belongs to the thread that took it.
- The name bound by `as` refers to the session after the block, too. Give `release` where sessions can let go of their
  memory by themselves.

Nothing is kept in host memory for a quick return: weights that are mapped from a file stay in the system's page cache,
which is such a memory already, shared by all processes and given up under pressure.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from mien.engine.admission import Admit, Refuse, Resident, Wait, admit, excess, expired
from mien.engine.footprint import Footprint
from mien.engine.memory import Meter, format_bytes, trim_heap
from mien.errors import EngineError, UsageError

S = TypeVar("S")

RESTART_SHARE = 0.25
"""More than this share of the budget retained asks for a restart."""
KEPT_EVENTS = 1000


@dataclass(frozen=True, slots=True)
class Event:
    """Something that others may want to log, count or act on."""

    kind: Literal["loaded", "evicted", "retained", "restart"]
    key: str
    amount_bytes: int
    """Of this network; with `restart` all that is retained."""
    message: str


class Timer(Protocol):
    """Calls something later, e.g. an event loop's `call_later`."""

    def __call__(self, delay_s: float, action: Callable[[], None], /) -> object:
        """Call `action` after `delay_s` seconds, once."""
        ...


def daemon_timer(delay_s: float, action: Callable[[], None]) -> None:
    """A timer thread that does not keep the process alive."""
    timer = threading.Timer(delay_s, action)
    timer.daemon = True
    timer.start()


@dataclass(slots=True, eq=False)
class _Held(Generic[S]):
    key: str
    session: S
    held_bytes: int
    last_used_s: float
    owners: list[int] = field(default_factory=list[int])

    def view(self) -> Resident:
        return Resident(self.key, self.held_bytes, len(self.owners), self.last_used_s)


@dataclass(slots=True, eq=False)
class _Ticket:
    """A thread that waits for a network to be loaded."""

    owner: int
    key: str
    expected_bytes: int
    leaving: tuple[str, ...] = ()
    """These take no new leases, so that the ticket's turn comes."""


class Residency(Generic[S]):
    """Loaded networks under a budget. Safe to use from several threads. See the module for the contract."""

    def __init__(
        self,
        budget_bytes: int,
        *,
        meter: Meter | None,
        idle_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        timer: Timer = daemon_timer,
        release: Callable[[S], None] | None = None,
        shrink: Sequence[Callable[[], None]] = (trim_heap,),
        listen: Callable[[Event], None] | None = None,
    ) -> None:
        """Start empty.

        Args:
            budget_bytes: The most that networks may hold together.
            meter: Tells what is in use where the networks live; without one, what was expected is taken for true.
            idle_s: Networks unused for so long leave; None keeps them.
            clock: Seconds that never go back.
            timer: Used with `idle_s` only.
            release: Called with a session that leaves, before the last reference to it is dropped.
            shrink: Called after a load, and when memory was not given back: have arenas shrink.
            listen: Called with every event, on the thread that caused it and outside the lock.
        """
        self._budget_bytes = budget_bytes
        self._footprint = Footprint(meter, shrink)
        self._idle_s = idle_s
        self._clock = clock
        self._timer = timer
        self._timer_set = False
        self._release = release
        self._listen = listen
        self._changed = threading.Condition()
        self._held: dict[str, _Held[S]] = {}
        self._queue: list[_Ticket] = []
        self._moving = False
        """A network is being loaded or dropped."""
        self._footprint.settle(0)
        self._events: deque[Event] = deque(maxlen=KEPT_EVENTS)

    @property
    def budget_bytes(self) -> int:
        """The most that networks may hold together."""
        return self._budget_bytes

    @property
    def residents(self) -> tuple[Resident, ...]:
        """What is loaded, in the order of loading."""
        with self._changed:
            return self._views()

    @property
    def sessions(self) -> list[S]:
        """The loaded sessions, in the order of loading: for reports, not for running."""
        with self._changed:
            return [held.session for held in self._held.values()]

    @property
    def retained_bytes(self) -> int:
        """What networks that left held and the process has not given back."""
        return self._footprint.retained_bytes

    @property
    def events(self) -> tuple[Event, ...]:
        """The latest events, oldest first."""
        with self._changed:
            return tuple(self._events)

    @property
    def warnings(self) -> list[str]:
        """What the user may want to know, each said once."""
        return list(dict.fromkeys(event.message for event in self.events if event.kind in ("retained", "restart")))

    @contextmanager
    def lease(self, key: str, loader: Callable[[], S], *, expected_bytes: int = 0) -> Generator[S]:
        """Use a network, loaded if it is not yet; it stays loaded until the end of the block.

        Args:
            key: What to share: the same key is the same network.
            loader: Makes the session, run once; whatever it raises is raised here.
            expected_bytes: What it will probably hold; counts until it has been measured.

        Raises:
            UsageError: the budget is too small for it, alone or together with what this thread has on lease.
            EngineError: memory that left networks held is not given back, and too little is left.
        """
        held = self._take(key, loader, expected_bytes)
        try:
            yield held.session
        finally:
            with self._changed:
                held.owners.remove(threading.get_ident())
                held.last_used_s = self._clock()
                self._changed.notify_all()
            del held
            self._tidy()

    def sweep(self) -> None:
        """Drop what has been idle for `idle_s` seconds. The timer does this; so does every lease given back."""
        self._tidy()

    def clear(self) -> None:
        """Drop everything that is not on lease."""
        self._tidy(lambda views: tuple(view.key for view in views if not view.leases))

    def _take(self, key: str, loader: Callable[[], S], expected_bytes: int) -> _Held[S]:
        ticket = _Ticket(threading.get_ident(), key, expected_bytes)
        with self._changed:
            try:
                while not self._may_use(ticket):
                    if ticket not in self._queue:
                        self._queue.append(ticket)
                    victims = self._turn(ticket)
                    if victims is not None:
                        break
                    self._refuse_if_stuck(ticket)
                    self._changed.wait()
                else:
                    self._held[key].owners.append(ticket.owner)
                    return self._held[key]
            finally:
                if ticket in self._queue:
                    self._queue.remove(ticket)
                    self._changed.notify_all()
        return self._load(ticket, loader, victims)

    def _may_use(self, ticket: _Ticket) -> bool:
        if ticket.key not in self._held:
            return False
        return self._holds(ticket) or not any(ticket.key in other.leaving for other in self._queue)

    def _turn(self, ticket: _Ticket) -> list[_Held[S]] | None:
        """Those to drop if it is this ticket's turn to load, else None."""
        if self._moving or ticket.key in self._held or not self._is_next(ticket):
            return None
        decision = self._decide(ticket)
        if isinstance(decision, Refuse):
            self._footprint.settle(self._held_bytes())
            decision = self._decide(ticket)
        if isinstance(decision, Refuse):
            raise self._refusal(ticket.key, self._need_bytes(ticket))
        if isinstance(decision, Wait):
            ticket.leaving = decision.leaving
            return None
        self._moving = True
        return [self._held.pop(victim) for victim in decision.evict]

    def _decide(self, ticket: _Ticket) -> Admit | Wait | Refuse:
        retained_bytes = self._footprint.retained_bytes
        return admit(self._views(), self._need_bytes(ticket), self._budget_bytes, retained_bytes=retained_bytes)

    def _need_bytes(self, ticket: _Ticket) -> int:
        return self._footprint.need_bytes(ticket.key, ticket.expected_bytes)

    def _is_next(self, ticket: _Ticket) -> bool:
        # Who holds something goes first: others may be waiting for it to be given back.
        holders = [other for other in self._queue if self._holds(other)]
        return ticket in holders or (not holders and self._queue[0] is ticket)

    def _holds(self, ticket: _Ticket) -> bool:
        return any(ticket.owner in held.owners for held in self._held.values())

    def _refuse_if_stuck(self, ticket: _Ticket) -> None:
        holders = [other for other in self._queue if self._holds(other)]
        owners = {owner for held in self._held.values() for owner in held.owners}
        if self._moving or ticket not in holders or owners != {other.owner for other in holders}:
            return
        if any(self._may_use(other) or isinstance(self._decide(other), Admit) for other in holders):
            return
        in_use = [held for held in self._held.values() if held.owners]
        smallest_bytes = sum(held.held_bytes for held in in_use) + self._need_bytes(ticket)
        raise UsageError(
            f"a memory budget of {format_bytes(self._budget_bytes)} does not hold {ticket.key} beside "
            f"{', '.join(held.key for held in in_use)}, which are in use: give at least "
            f"{format_bytes(smallest_bytes + self._footprint.retained_bytes)}"
        )

    def _refusal(self, key: str, need_bytes: int) -> UsageError | EngineError:
        budget = format_bytes(self._budget_bytes)
        if need_bytes <= self._budget_bytes:
            return EngineError(
                f"{key} needs {format_bytes(need_bytes)} of a memory budget of {budget}, of which networks that left "
                f"have not given back {format_bytes(self._footprint.retained_bytes)}: restart the process"
            )
        return UsageError(
            f"a memory budget of {budget} is too small for {key}: give at least {format_bytes(need_bytes)}"
        )

    def _load(self, ticket: _Ticket, loader: Callable[[], S], victims: list[_Held[S]]) -> _Held[S]:
        key = ticket.key
        try:
            while victims:
                self._drop(victims.pop(), "for room")
            session, held_bytes = self._footprint.load(key, loader, ticket.expected_bytes)
            held = _Held(key, session, held_bytes, self._clock(), [ticket.owner])
            del session
            if held_bytes > self._budget_bytes:
                self._drop(held, "too large")
                raise self._refusal(key, held_bytes)
            with self._changed:
                self._held[key] = held
        finally:
            self._moved()
        self._say("loaded", key, held_bytes, f"{key} holds {format_bytes(held_bytes)}")
        self._tidy()
        return held

    def _drop(self, held: _Held[S], why: str) -> None:
        kept_bytes = self._footprint.drop(held.held_bytes, lambda: self._let_go(held))
        self._say("evicted", held.key, held.held_bytes, f"{held.key} left ({why}), {format_bytes(held.held_bytes)}")
        if not kept_bytes:
            return
        kept = format_bytes(kept_bytes)
        self._say("retained", held.key, kept_bytes, f"{kept} of {held.key} were not given back when it left")
        retained_bytes = self._footprint.retained_bytes
        if retained_bytes > RESTART_SHARE * self._budget_bytes:
            retained = format_bytes(retained_bytes)
            message = f"networks that left have not given back {retained}: restart the process"
            self._say("restart", held.key, retained_bytes, message)

    def _let_go(self, held: _Held[S]) -> None:
        if self._release is not None:
            self._release(held.session)
        # Others may still have `held` in hand: the session itself has to go, or nothing is freed.
        del held.session

    def _moved(self) -> None:
        with self._changed:
            self._moving = False
            self._footprint.settle(self._held_bytes())
            self._changed.notify_all()

    def _held_bytes(self) -> int:
        return sum(held.held_bytes for held in self._held.values())

    def _tidy(self, further: Callable[[Sequence[Resident]], tuple[str, ...]] = lambda _: ()) -> None:
        """Drop what is idle for too long or over the budget, and what `further` chooses."""
        while True:
            with self._changed:
                views = self._views()
                leaving = {
                    *excess(views, self._budget_bytes, retained_bytes=self._footprint.retained_bytes),
                    *further(views),
                }
                if self._idle_s is not None:
                    leaving.update(expired(views, self._clock(), self._idle_s))
                if self._moving or not leaving:
                    break
                self._moving = True
                victims = [self._held.pop(key) for key in leaving]
            try:
                while victims:
                    self._drop(victims.pop(), "idle")
            finally:
                self._moved()
        self._set_timer()

    def _set_timer(self) -> None:
        with self._changed:
            idle = [held.last_used_s for held in self._held.values() if not held.owners]
            if self._idle_s is None or self._timer_set or not idle:
                return
            self._timer_set = True
            # What is overdue could not leave just now, since another was being moved.
            left_s = min(idle) + self._idle_s - self._clock()
            delay_s = left_s if left_s > 0 else self._idle_s
        self._timer(delay_s, self._on_timer)

    def _on_timer(self) -> None:
        with self._changed:
            self._timer_set = False
        self.sweep()

    def _views(self) -> tuple[Resident, ...]:
        return tuple(held.view() for held in self._held.values())

    def _say(
        self, kind: Literal["loaded", "evicted", "retained", "restart"], key: str, count: int, message: str
    ) -> None:
        event = Event(kind, key, count, message)
        with self._changed:
            self._events.append(event)
        if self._listen is not None:
            self._listen(event)
