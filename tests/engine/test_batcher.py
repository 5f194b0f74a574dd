import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, wait

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.engine.batcher import Batcher
from mien.engine.batching import Form, Hold, Take, Waiting, form_batch, largest_bucket, queue_delay_s
from mien.errors import EngineError
from support.memory import Doubler

BUCKETS = (1, 2, 4, 8)


def queue(*requests: tuple[str, int] | tuple[str, int, str]) -> list[Waiting]:
    return [Waiting(job, "".join(kind) or "face", items, arrived_s=0.0) for job, items, *kind in requests]


@pytest.mark.parametrize(
    ("waiting", "last_job", "expected"),
    [
        # One request goes as it is.
        (queue(("a", 1)), None, [(0, 1)]),
        (queue(("a", 4)), None, [(0, 4)]),
        # Never padded: what does not fill a bucket runs in parts.
        (queue(("a", 3)), None, [(0, 2)]),
        (queue(("a", 20)), None, [(0, 8)]),
        # Requests merge, in order.
        (queue(("a", 1), ("a", 2), ("a", 1)), None, [(0, 1), (1, 2), (2, 1)]),
        (queue(("a", 1), ("b", 1), ("c", 2)), None, [(0, 1), (1, 1), (2, 2)]),
        # Jobs share alike, however much one wants; what one does not need goes to the others.
        (queue(("a", 40), ("b", 40)), None, [(0, 4), (1, 4)]),
        (queue(("a", 40), ("b", 1), ("c", 40)), None, [(0, 4), (1, 1), (2, 3)]),
        (queue(("a", 3), ("a", 3), ("b", 9)), None, [(0, 3), (1, 1), (2, 4)]),
        # Jobs take turns in getting more.
        (queue(("a", 9), ("b", 9), ("c", 9)), "a", [(0, 2), (1, 3), (2, 3)]),
        (queue(("a", 9), ("b", 9), ("c", 9)), "c", [(0, 3), (1, 3), (2, 2)]),
        # Kinds do not mix: the oldest goes first.
        (queue(("a", 1), ("b", 5, "tile"), ("c", 1)), None, [(0, 1), (2, 1)]),
        (queue(("b", 5, "tile"), ("a", 1)), None, [(0, 4)]),
    ],
)
def test_batches_form(waiting: list[Waiting], last_job: str | None, expected: list[tuple[int, int]]):
    formed = form_batch(waiting, BUCKETS, 10.0, 0.01, last_job)
    assert formed == Form(tuple(Take(*take) for take in expected))


@pytest.mark.parametrize(
    ("items", "now_s", "holds_s"),
    [
        (1, 0.0, None),
        (2, 0.0, 0.001),
        (4, 0.0, 0.003),
        (4, 0.001, 0.002),
        (4, 0.003, None),
        (7, 0.0, 0.006),
        (8, 0.0, None),
    ],
)
def test_the_delay_grows_with_the_backlog_and_is_nothing_when_idle_or_full(
    items: int, now_s: float, holds_s: float | None
):
    formed = form_batch(queue(*[("a", 1)] * items), BUCKETS, now_s, 0.007)
    if holds_s is None:
        assert isinstance(formed, Form)
    else:
        assert isinstance(formed, Hold)
        assert formed.seconds == pytest.approx(holds_s)


def test_without_batches_there_is_no_delay():
    assert queue_delay_s(1, 1, 0.01) == 0
    assert queue_delay_s(5, 1, 0.01) == 0


requests = st.tuples(st.sampled_from("abc"), st.integers(1, 20), st.sampled_from(["face", "tile"]))


@given(st.lists(requests, min_size=1, max_size=12), st.sampled_from([(1,), (1, 4), (1, 2, 4, 8), (1, 3, 5)]))
def test_every_batch_fills_a_bucket_with_one_kind_and_fair_shares(waiting, buckets: tuple[int, ...]):
    views = queue(*waiting)
    formed = form_batch(views, buckets, 10.0, 0.01)
    assert isinstance(formed, Form)
    size = sum(take.items for take in formed.takes)
    same = [view for view in views if view.kind == views[0].kind]
    assert size == largest_bucket(sum(view.items for view in same), buckets)
    assert {views[take.place].kind for take in formed.takes} == {views[0].kind}
    assert all(0 < take.items <= views[take.place].items for take in formed.takes)
    got = {job: sum(take.items for take in formed.takes if views[take.place].job == job) for job in "abc"}
    wanted = {job: sum(view.items for view in same if view.job == job) for job in "abc"}
    for job in "abc":
        if got[job] < wanted[job]:
            assert all(got[other] <= got[job] + 1 for other in "abc"), "another got more while this one wants more"


def items(*values: float) -> dict[str, np.ndarray]:
    return {"x": np.array(values, np.float32).reshape(-1, 1)}


def answer(outputs: dict[str, np.ndarray]) -> list[float]:
    return outputs["y"][:, 0].tolist()


class Gate:
    """Holds the first batch until it is opened, so that requests pile up behind it."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def __call__(self, _: object) -> None:
        self.entered.set()
        assert self.open.wait(60)

    def __enter__(self) -> None:
        assert self.entered.wait(60)

    def __exit__(self, *_: object) -> None:
        self.open.set()


def test_alone_it_runs_in_the_callers_thread():
    threads: list[threading.Thread] = []
    network = Doubler(lambda _: threads.append(threading.current_thread()))
    with Batcher(network) as batcher:
        assert answer(batcher.run("a", items(1, 2))) == [2, 4]
    assert threads == [threading.current_thread()]


def test_a_request_runs_in_buckets_and_comes_back_whole_and_in_order():
    network = Doubler()
    with Batcher(network, buckets=BUCKETS) as batcher:
        assert answer(batcher.run("a", items(*range(13)))) == [2 * value for value in range(13)]
        assert answer(batcher.submit("a", items(*range(7))).result(60)) == [2 * value for value in range(7)]
    assert [len(batch) for batch in network.batches] == [8, 4, 1, 4, 2, 1]


def test_requests_that_pile_up_run_together():
    gate = Gate()
    network = Doubler(gate)
    with Batcher(network, buckets=BUCKETS) as batcher:
        first = batcher.submit("a", items(1))
        with gate:
            others = [batcher.submit("abc"[number % 3], items(10 + number)) for number in range(8)]
        assert answer(first.result(60)) == [2]
        assert [answer(other.result(60)) for other in others] == [[20 + 2 * number] for number in range(8)]
    assert [len(batch) for batch in network.batches] == [1, 8]
    assert batcher.figures.batches == 2
    assert batcher.figures.mean_size == 4.5
    assert batcher.figures.p95_wait_s > 0


def test_a_busy_job_does_not_hold_up_another():
    gate = Gate()
    network = Doubler(gate)
    with Batcher(network, buckets=BUCKETS) as batcher:
        batcher.submit("busy", items(0))
        with gate:
            busy = batcher.submit("busy", items(*[1] * 32))
            late = batcher.submit("late", items(2, 2))
        assert answer(late.result(60)) == [4, 4]
        assert answer(busy.result(60)) == [2] * 32
    assert (network.batches[1] == 2).sum() == 2, "the late one is in the first batch"


def test_a_bad_request_fails_alone():
    def picky(inputs):
        if inputs["x"].shape[1:] != (1,):
            raise EngineError(f"input x takes shape [?,1], got {inputs['x'].shape}")

    gate = Gate()
    network = Doubler(lambda inputs: (gate(inputs), picky(inputs)))
    with Batcher(network, buckets=BUCKETS) as batcher:
        first = batcher.submit("a", items(1))
        with gate:
            good = batcher.submit("a", items(2))
            bad = batcher.submit("a", {"x": np.zeros((1, 5), np.float32)})
            other_type = batcher.submit("a", {"x": np.array([[1 / 3]])})
            also_good = batcher.submit("b", items(3))
        assert [answer(future.result(60)) for future in (first, good, also_good)] == [[2], [4], [6]]
        with pytest.raises(EngineError, match="takes shape"):
            bad.result(60)
        assert answer(other_type.result(60)) == [2 / 3], "not rounded to the type of the others"


@pytest.mark.parametrize(
    "inputs",
    [{}, {"x": np.zeros((0, 1), np.float32)}, {"x": np.float32(1)}, {**items(1), "s": np.zeros((2, 3), np.float32)}],
)
def test_what_is_no_batch_is_refused_at_once(inputs: dict):
    with Batcher(Doubler()) as batcher:
        for call in (batcher.run, batcher.submit):
            with pytest.raises(EngineError, match=r"not a batch: .* got"):
                call("a", inputs)


def test_an_engine_error_fails_the_members_and_not_the_batcher():
    gate = Gate()

    def fail_on_13(inputs):
        gate(inputs)
        if (inputs["x"] == 13).any():
            raise EngineError("out of memory")

    with Batcher(Doubler(fail_on_13), buckets=BUCKETS) as batcher:
        batcher.submit("a", items(1))
        with gate:
            doomed = [batcher.submit("a", items(13)), batcher.submit("b", items(2))]
        for future in doomed:
            with pytest.raises(EngineError, match="out of memory"):
                future.result(60)
        assert answer(batcher.run("a", items(4))) == [8]
        with pytest.raises(EngineError, match="out of memory"):
            batcher.run("a", items(13))
        assert answer(batcher.run("a", items(5))) == [10]


def test_a_request_that_failed_in_part_does_not_run_on():
    gate = Gate()

    def fail_once(inputs):
        gate(inputs)
        if len(inputs["x"]) == 8:
            raise EngineError("too much")

    network = Doubler(fail_once)
    with Batcher(network, buckets=BUCKETS) as batcher:
        with gate_of(batcher, gate):
            large = batcher.submit("a", items(*range(20)))
        with pytest.raises(EngineError, match="too much"):
            large.result(60)
    assert [len(batch) for batch in network.batches] == [1, 8]


def gate_of(batcher: Batcher, gate: Gate) -> Gate:
    batcher.submit("first", items(0))
    return gate


def test_a_cancelled_request_never_runs():
    gate = Gate()
    network = Doubler(gate)
    with Batcher(network, buckets=BUCKETS) as batcher:
        with gate_of(batcher, gate):
            unwanted = batcher.submit("a", items(66))
            wanted = batcher.submit("a", items(1))
            of_stopped_job = [batcher.submit("b", items(77)), batcher.submit("b", items(78))]
            assert unwanted.cancel()
            batcher.cancel("b")
        assert answer(wanted.result(60)) == [2]
        for future in (unwanted, *of_stopped_job):
            with pytest.raises(CancelledError):
                future.result(60)
    assert np.concatenate(network.batches)[:, 0].tolist() == [0, 1]


def test_closing_runs_what_waits_and_refuses_the_rest():
    gate = Gate()
    batcher = Batcher(Doubler(gate), buckets=BUCKETS)
    with gate_of(batcher, gate):
        waiting = [batcher.submit("a", items(number)) for number in range(5)]
        closing = threading.Thread(target=batcher.close)
        closing.start()
    closing.join(60)
    assert not wait(waiting, timeout=0).not_done
    batcher.close()
    for call in (batcher.run, batcher.submit):
        with pytest.raises(EngineError, match="takes no more requests: its batcher is closed"):
            call("a", items(1))


def test_outputs_that_are_not_a_row_an_item_are_refused():
    class Summing(Doubler):
        def run(self, inputs):
            return {"y": inputs["x"].sum(axis=0)}

    with Batcher(Summing()) as batcher, pytest.raises(EngineError, match="doubler cannot be batched: 2 items gave"):
        batcher.run("a", items(1, 2))


def test_outputs_of_one_item_need_no_axis_for_the_batch():
    class Rows(Doubler):
        def run(self, inputs):
            return {"y": np.repeat(inputs["x"], 3, axis=0), "z": inputs["x"].sum(axis=0)}

    with Batcher(Rows(), buckets=(1,)) as batcher:
        waiting = [batcher.submit("a", items(number)) for number in (1, 2, 3)]
        for number, future in enumerate(waiting, 1):
            outputs = future.result(60)
            assert outputs["y"].shape == (3, *items(number)["x"].shape[1:])
            np.testing.assert_array_equal(outputs["z"], items(number)["x"][0])


@pytest.mark.parametrize("runners", [1, 3])
def test_many_threads_and_jobs_get_their_own_answers(runners: int):
    network = Doubler()
    results: dict[int, bool] = {}

    def work(number: int, batcher: Batcher) -> None:
        rng = np.random.default_rng(number)
        session = batcher.session(f"job {number}")
        right = []
        for _ in range(40):
            values = rng.integers(0, 1000, rng.integers(1, 12)).tolist()
            right.append(answer(session.run(items(*values))) == [2 * value for value in values])
        results[number] = all(right)

    with Batcher(network, buckets=BUCKETS, longest_delay_s=0.0005, runners=runners) as batcher:
        run_threads([lambda number=number: work(number, batcher) for number in range(6)])
    assert results == dict.fromkeys(range(6), True)
    assert {len(batch) for batch in network.batches} <= set(BUCKETS)


def test_a_jobs_usage_is_its_own():
    with Batcher(Doubler(), buckets=BUCKETS) as batcher:
        mine, other = batcher.session("mine"), batcher.session("other")
        mine.run(items(*range(3)))
        other.run(items(1))
        mine.run(items(1))
    assert (mine.usage.calls, mine.usage.items) == (2, 4)
    assert (other.usage.calls, other.usage.items) == (1, 1)
    assert mine.usage.seconds > 0
    assert mine.ran.model == "doubler"


def run_threads(works: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
