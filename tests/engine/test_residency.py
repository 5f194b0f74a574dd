import threading
import weakref
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.engine.admission import Admit, Refuse, Resident, Wait, admit, excess, expired
from mien.engine.residency import Event, Residency
from mien.errors import EngineError, ModelError, UsageError
from support.memory import MIB, FakeMemory, FakeNetwork


def resident(key: str, held: int, leases: int = 0, used: float = 0.0) -> Resident:
    return Resident(key, held, leases, used)


A, B, C = resident("a", 40, used=1), resident("b", 30, used=2), resident("c", 20, used=3)
B_IN_USE = resident("b", 30, leases=1, used=2)


@pytest.mark.parametrize(
    ("residents", "need", "retained", "expected"),
    [
        ([], 100, 0, Admit(())),
        ([], 101, 0, Refuse(101)),
        ([], 50, 60, Refuse(110)),
        ([A, B, C], 10, 0, Admit(())),
        ([A, B, C], 11, 0, Admit(("a",))),
        ([C, B, A], 51, 0, Admit(("a", "b"))),
        ([A, B, C], 100, 0, Admit(("a", "b", "c"))),
        ([A, B_IN_USE, C], 60, 0, Admit(("a", "c"))),
        ([A, B_IN_USE, C], 80, 0, Wait(("a", "c", "b"))),
        ([resident("small", 5, used=1), A, B], 65, 0, Admit(("a",))),
        ([A, B, C], 10, 5, Admit(("a",))),
    ],
)
def test_admission(residents: list[Resident], need: int, retained: int, expected: object):
    assert admit(residents, need, 100, retained_bytes=retained) == expected


@pytest.mark.parametrize(
    ("residents", "budget", "expected"),
    [
        ([A, B, C], 90, ()),
        ([A, B, C], 89, ("a",)),
        ([A, B, C], 25, ("a", "b")),
        ([A, B_IN_USE, C], 10, ("a", "c")),
    ],
)
def test_excess_leaves(residents: list[Resident], budget: int, expected: tuple[str, ...]):
    assert excess(residents, budget) == expected


def test_the_idle_expire():
    assert expired([A, B_IN_USE, C], 7.0, 5.0) == ("a",)
    assert expired([A, B, C], 8.0, 5.0) == ("a", "b", "c")
    assert expired([A, B, C], 5.9, 5.0) == ()


class Desk:
    """A residency over fake memory, with a clock and a timer worked by hand."""

    def __init__(self, budget_mib: int, idle_s: float | None = None) -> None:
        self.memory = FakeMemory()
        self.now_s = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.heard: list[Event] = []
        self.residency: Residency[FakeNetwork] = Residency(
            budget_mib * MIB,
            meter=self.memory,
            idle_s=idle_s,
            clock=lambda: self.now_s,
            timer=lambda delay_s, action: self.timers.append((delay_s, action)),
            release=FakeNetwork.release,
            shrink=(),
            listen=self.heard.append,
        )

    def lease(self, key: str, mib: int, expected_mib: int | None = None):
        expected = mib if expected_mib is None else expected_mib
        return self.residency.lease(key, self.memory.loader(key, mib * MIB), expected_bytes=expected * MIB)

    def use(self, key: str, mib: int, expected_mib: int | None = None) -> None:
        self.now_s += 1
        with self.lease(key, mib, expected_mib):
            pass

    @property
    def keys(self) -> list[str]:
        return [resident.key for resident in self.residency.residents]


def test_loads_when_first_needed_and_once():
    desk = Desk(100)
    assert desk.memory.loads == []
    with desk.lease("a", 40) as first, desk.lease("a", 40) as second:
        assert first is second
        assert first.key == "a"
    desk.use("a", 40)
    assert desk.memory.loads == ["a"]
    assert [(event.kind, event.key, event.amount_bytes) for event in desk.heard] == [("loaded", "a", 40 * MIB)]


def test_the_least_recently_used_leaves():
    desk = Desk(100)
    for key in ("a", "b", "a", "c"):
        desk.use(key, 40)
    assert desk.keys == ["a", "c"]
    assert desk.memory.used_bytes() == 180 * MIB


def test_bytes_are_measured_whatever_was_expected():
    desk = Desk(100)
    desk.use("a", 40, expected_mib=1)
    assert desk.residency.residents[0].held_bytes == 40 * MIB
    desk.use("b", 70, expected_mib=1)
    assert desk.keys == ["b"]
    assert desk.memory.highest <= (100 + 100 + 70) * MIB
    desk.use("a", 40, expected_mib=1)
    assert desk.memory.highest <= (100 + 110) * MIB, "once measured, room is made before it loads"


def test_one_that_cannot_fit_is_refused_before_it_loads():
    desk = Desk(100)
    with (
        pytest.raises(UsageError, match=r"budget of 100MiB is too small for big: give at least 120MiB"),
        desk.lease("big", 120),
    ):
        pass
    assert desk.memory.loads == []


def test_one_that_turns_out_too_large_leaves_at_once():
    desk = Desk(100)
    with pytest.raises(UsageError, match="give at least 120MiB"), desk.lease("big", 120, expected_mib=10):
        pass
    assert desk.memory.used_bytes() == 100 * MIB
    assert desk.keys == []


def test_what_is_on_lease_stays_and_a_thread_cannot_wait_for_itself():
    desk = Desk(100)
    with desk.lease("a", 60):
        with pytest.raises(UsageError, match=r"does not hold b beside a, which are in use: give at least 110MiB"):
            desk.use("b", 50)
        assert desk.keys == ["a"]
    desk.use("b", 50)
    assert desk.keys == ["b"]


def test_the_idle_leave_by_the_timer_and_it_is_set_once():
    desk = Desk(100, idle_s=10)
    desk.use("a", 40)
    desk.use("b", 40)
    [(delay_s, action)] = desk.timers
    assert delay_s == 10
    desk.now_s = 11
    desk.timers.clear()
    action()
    assert desk.keys == ["b"]
    [(delay_s, action)] = desk.timers
    assert delay_s == 1
    desk.now_s = 12
    desk.timers.clear()
    action()
    assert desk.keys == []
    assert desk.timers == []
    assert desk.memory.used_bytes() == 100 * MIB


def test_idle_time_counts_from_the_end_of_use():
    desk = Desk(100, idle_s=10)
    with desk.lease("a", 40):
        desk.now_s = 50
        desk.residency.sweep()
    desk.now_s = 59
    desk.residency.sweep()
    assert desk.keys == ["a"]
    desk.now_s = 60
    desk.residency.sweep()
    assert desk.keys == []


def test_clear_keeps_what_is_on_lease():
    desk = Desk(100)
    desk.use("b", 20)
    with desk.lease("a", 40):
        desk.residency.clear()
        assert desk.keys == ["a"]


def test_a_failed_load_leaves_nothing_behind():
    desk = Desk(100)

    def broken() -> FakeNetwork:
        raise ModelError("damaged")

    for _ in range(2):
        with pytest.raises(ModelError, match="damaged"), desk.residency.lease("a", broken):
            pass
    desk.use("a", 40)
    assert desk.keys == ["a"]


def test_memory_that_is_not_given_back_is_said_and_counted():
    desk = Desk(100)
    desk.use("a", 60)
    desk.memory.keeps = True
    desk.residency.clear()
    assert desk.residency.retained_bytes == 60 * MIB
    assert [event.kind for event in desk.heard] == ["loaded", "evicted", "retained", "restart"]
    assert "60MiB of a were not given back" in desk.residency.warnings[0]
    assert "restart the process" in desk.residency.warnings[1]
    desk.use("b", 30)
    # What the allocator kept served `b`: the meter did not rise, and yet its bytes are known.
    assert desk.residency.residents[0].held_bytes == 30 * MIB
    assert desk.residency.retained_bytes == 30 * MIB


def test_too_much_retained_asks_for_a_restart_instead_of_going_over_the_budget():
    desk = Desk(100)
    desk.use("a", 60)
    desk.memory.keeps = True
    desk.residency.clear()
    with pytest.raises(EngineError, match=r"b needs 50MiB of .* 100MiB, of which .* given back 60MiB: restart"):
        desk.use("b", 50)


def test_retained_memory_is_found_free_again():
    desk = Desk(100)
    desk.use("a", 60)
    desk.memory.keeps = True
    desk.residency.clear()
    desk.memory.trim()
    desk.use("b", 50)
    assert desk.residency.retained_bytes == 0
    assert desk.keys == ["b"]


def test_arenas_are_shrunk_before_memory_counts_as_retained():
    memory = FakeMemory(keeps=True)
    residency = Residency(100 * MIB, meter=memory, release=FakeNetwork.release, shrink=[memory.trim])
    with residency.lease("a", memory.loader("a", 60 * MIB)):
        pass
    residency.clear()
    assert residency.retained_bytes == 0
    assert residency.warnings == []


def test_what_a_reader_leaves_in_the_heap_is_not_the_networks():
    memory = FakeMemory()

    def load() -> FakeNetwork:
        memory.kept = 120 * MIB
        return memory.loader("a", 60 * MIB)()

    residency = Residency(100 * MIB, meter=memory, release=FakeNetwork.release, shrink=[memory.trim])
    with residency.lease("a", load):
        assert residency.residents[0].held_bytes == 60 * MIB


def test_a_session_that_left_is_referred_to_by_nobody():
    class Network:
        pass

    residency: Residency[Network] = Residency(100, meter=FakeMemory())
    with residency.lease("a", Network) as session:
        gone = weakref.ref(session)
    del session
    residency.clear()
    assert gone() is None


def test_without_a_meter_what_is_expected_counts():
    memory = FakeMemory()
    residency = Residency(100 * MIB, meter=None, release=FakeNetwork.release)
    for key in ("a", "b"):
        with residency.lease(key, memory.loader(key, MIB), expected_bytes=60 * MIB):
            pass
    assert [(resident.key, resident.held_bytes) for resident in residency.residents] == [("b", 60 * MIB)]
    assert residency.warnings == []


def test_eight_threads_at_once_load_each_network_once():
    desk = Desk(100)
    together = threading.Barrier(8)
    found: list[FakeNetwork] = []

    def work(number: int) -> None:
        together.wait()
        for key in ("a", "b") if number % 2 else ("b", "a"):
            with desk.lease(key, 40) as network:
                found.append(network)

    run_threads([lambda number=number: work(number) for number in range(8)])
    assert sorted(desk.memory.loads) == ["a", "b"]
    assert len({id(network) for network in found}) == 2


def test_a_waiting_thread_gets_its_turn_although_others_keep_using_what_is_in_the_way():
    desk = Desk(100)
    stop, waits = threading.Event(), threading.Event()

    def keep_using() -> None:
        while not stop.is_set():
            with desk.lease("a", 60):
                waits.set()

    def want_other() -> None:
        waits.wait()
        with desk.lease("b", 60):
            stop.set()

    run_threads([keep_using, keep_using, keep_using, want_other])
    assert stop.is_set()


def test_threads_that_hold_what_others_need_are_told_instead_of_waiting_for_ever():
    desk = Desk(100)
    both_hold = threading.Barrier(2)
    outcomes: list[str] = []

    def work(mine: str, other: str) -> None:
        try:
            with desk.lease(mine, 50):
                both_hold.wait()
                with desk.lease(other, 50):
                    outcomes.append("done")
        except UsageError:
            outcomes.append("refused")

    run_threads([lambda: work("a", "c"), lambda: work("b", "d")])
    assert "refused" in outcomes
    assert len(outcomes) == 2


def run_threads(works: list[Callable[[], None]]) -> None:
    """Run side by side; what one raises is raised, and one that hangs fails the test."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    if errors:
        raise errors[0]


SIZES = {"a": 10, "b": 25, "c": 40, "d": 55, "e": 70}
steps = st.tuples(st.sampled_from(sorted(SIZES)), st.integers(0, 3), st.floats(0, 20))


@given(
    schedule=st.lists(steps, max_size=40), budget=st.integers(70, 200), expected_share=st.sampled_from([0.0, 0.5, 1.0])
)
def test_random_schedules_keep_the_promises(schedule, budget: int, expected_share: float):
    """Leases open and close in any order, within the block of others; the promises are checked after each step."""
    desk = Desk(budget, idle_s=15)
    open_leases: list[tuple[str, object]] = []

    def check() -> None:
        last_loaded = SIZES[desk.memory.loads[-1]] if desk.memory.loads else 0
        held = sum(resident.held_bytes for resident in desk.residency.residents)
        assert desk.memory.used_bytes() == 100 * MIB + held
        assert held <= (budget + last_loaded) * MIB
        for key, _ in open_leases:
            assert key in desk.keys

    for key, closing, passed_s in schedule:
        desk.now_s += passed_s
        for _ in range(min(closing, len(open_leases))):
            open_leases.pop(0)[1].__exit__(None, None, None)
            check()
        lease = desk.lease(key, SIZES[key], int(SIZES[key] * expected_share))
        try:
            lease.__enter__()
        except UsageError:
            held = {key for key, _ in open_leases}
            assert SIZES[key] + sum(SIZES[other] for other in held) > budget, "refused although it fits"
        else:
            open_leases.append((key, lease))
        check()
    for _, lease in open_leases:
        lease.__exit__(None, None, None)
    assert sum(resident.held_bytes for resident in desk.residency.residents) <= budget * MIB


@given(seed=st.integers(0, 2**32 - 1))
def test_random_threads_finish_within_the_budget(seed: int):
    """Real threads, one lease at a time and two nested: nobody hangs, nothing in use leaves, the budget holds."""
    import random

    desk = Desk(100)

    def work(number: int) -> None:
        choose = random.Random(seed + number)
        for _ in range(12):
            key, other = choose.sample(sorted(SIZES), 2)
            with desk.lease(key, SIZES[key]) as network:
                assert network.key == key
                if choose.random() < 0.3:
                    try:
                        with desk.lease(other, SIZES[other]):
                            assert {key, other} <= set(desk.keys)
                    except UsageError:
                        assert key in desk.keys

    run_threads([lambda number=number: work(number) for number in range(4)])
    assert desk.memory.highest <= 200 * MIB
    assert desk.residency.retained_bytes == 0
