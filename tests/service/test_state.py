import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from mien.service.records import Failure, FlaggedFrame, Job, JobId, Result, TenantId, WorkerId
from mien.service.serialising import job_from_hash, job_to_hash
from mien.service.state import Beat, Grant, State, segment_name
from support.service import ACME, Place

LEASE_S = 60.0
WORKER = WorkerId("w")
TROUBLE = Failure("JobError", "trouble")
RESULT = Result("jobs/j/000001/result.mp4", "out.mp4", 3, "video/mp4", {"frames": 20})


def create(state: State, name: str = "j", tenant: str = ACME, **fields: Any) -> JobId:
    job = Job(JobId(name), TenantId(tenant), {"target": "asset:a", "output": "out.mp4"}, **{"kind": "video", **fields})
    assert state.create(job)
    return job.id


def split(place: Place, segments: int = 2, *, lease_s: float = LEASE_S) -> list[Grant]:
    ranges = [(10 * number, 10 * number + 10) for number in range(segments)]
    assert place.state.split(place.take(), ranges, frames=10 * segments, output={"survey": "s"}, busy_s=1.0)
    return [place.take(lease_s) for _ in ranges]


def job(state: State, name: str = "j") -> Job:
    found = state.job(JobId(name))
    assert found is not None
    return found


def test_a_job_survives_being_written_and_read() -> None:
    full = Job(
        JobId("j"),
        ACME,
        {"target": "asset:a", "sources": ["asset:b"]},
        review_above=0.25,
        channel="canary",
        models={"swapper": "x"},
        started_s=1.5,
        error=TROUBLE,
        result=RESULT,
        flagged=(FlaggedFrame(3, 0.12, "profile", "k"), FlaggedFrame(4, 0.16, "blur")),
    )
    assert job_from_hash(full.id, job_to_hash(full)) == full


def test_a_job_is_created_once(place: Place) -> None:
    create(place.state)
    assert not place.state.create(replace(job(place.state), priority="high"))
    assert job(place.state).priority == "normal"
    assert [head.waiting for head in place.state.heads("batch")] == [1]


def test_a_task_is_given_to_one_of_many_who_ask_at_once(place: Place) -> None:
    create(place.state)
    head, found, barrier = place.state.heads("batch")[0], list[Grant | None](), threading.Barrier(8)

    def ask() -> None:
        barrier.wait()
        found.append(place.state.claim("batch", head, WORKER, lease_s=LEASE_S))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(grant is not None for grant in found) == 1


def test_two_segments_that_end_together_bring_one_join(place: Place) -> None:
    for number in range(10):
        create(place.state, f"j{number}")
        grants, barrier = split(place), threading.Barrier(2)

        def finish(grant: Grant, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            assert place.state.made(grant, output={}, busy_s=1.0)

        threads = [threading.Thread(target=finish, args=(grant,)) for grant in grants]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        join = place.take()
        assert join.task == "join"
        assert place.state.heads("batch") == []
        assert place.state.complete(join, RESULT, frames=20, busy_s=1.0)
        done = job(place.state, f"j{number}")
        assert (done.state, done.frames_done, done.result) == ("done", 20, RESULT)
        assert done.busy_s == pytest.approx(4.0)


def test_what_is_said_twice_counts_once(place: Place) -> None:
    """A word whose answer got lost is sent again."""
    create(place.state)
    first, second = split(place)
    assert [place.state.made(first, output={}, busy_s=1.0) for _ in range(2)] == [True, True]
    assert place.state.made(second, output={}, busy_s=1.0)
    join = place.take()
    assert [place.state.complete(join, RESULT, frames=20, busy_s=1.0) for _ in range(2)] == [True, True]
    assert job(place.state).busy_s == pytest.approx(4.0)


def test_a_worker_that_is_late_changes_nothing(place: Place) -> None:
    state = place.state
    create(state)
    late = split(place, segments=1, lease_s=0.001)[0]
    time.sleep(0.002)
    assert state.expire() == 1
    current = place.take()
    assert current.task == late.task
    assert current.attempt > late.attempt
    assert current.folder != late.folder
    assert not state.made(late, output={"late": True}, busy_s=1.0)
    assert state.fail(late, TROUBLE, "again", busy_s=1.0) is None
    assert not state.hand_back(late)
    assert state.beat([Beat(late, 5, "swapping"), Beat(current, 5, "swapping")], lease_s=LEASE_S) == [False, True]
    assert state.made(current, output={"late": False}, busy_s=1.0)
    assert not state.made(late, output={"late": True}, busy_s=1.0)
    assert state.outputs(late.job)[late.task] == {"late": False}


def test_a_worker_that_is_lost_counts_as_a_try_until_the_last_one(place: Place) -> None:
    create(place.state, max_attempts=3)
    for _ in range(3):
        place.take(0.001)
        time.sleep(0.002)
        assert place.state.expire() == 1
    failed = job(place.state)
    assert failed.state == "failed"
    assert failed.error is not None
    assert failed.error.kind == "WorkerLost"
    assert [dead.id for dead in place.state.dead()] == ["j"]


def test_a_try_that_is_handed_back_does_not_count(place: Place) -> None:
    create(place.state, max_attempts=2)
    for _ in range(5):
        assert place.state.hand_back(place.take())
    assert place.state.fail(place.take(), TROUBLE, "again", busy_s=1.0) == "waiting"
    assert place.state.fail(place.take(), TROUBLE, "again", busy_s=1.0) == "failed"


def test_progress_is_that_of_tries_that_count(place: Place) -> None:
    create(place.state)
    first, second = split(place)
    place.state.beat([Beat(first, 4, "swapping"), Beat(second, 7, "swapping")], lease_s=LEASE_S)
    assert job(place.state).frames_done == 11
    place.state.fail(second, TROUBLE, "again", busy_s=1.0)
    assert job(place.state).frames_done == 4
    assert [segment.frames_done for segment in place.state.segments(first.job)] == [4, 0]
    place.state.made(first, output={}, busy_s=1.0)
    assert job(place.state).frames_done == 10


@pytest.mark.parametrize(("how", "is_dead"), [("refused", False), ("dead", True)])
def test_an_error_that_no_try_mends_ends_the_job_at_once(place: Place, how: Any, is_dead: bool) -> None:
    create(place.state)
    assert place.state.fail(place.take(), TROUBLE, how, busy_s=1.0) == "failed"
    assert job(place.state).error == TROUBLE
    assert bool(place.state.dead()) == is_dead
    assert place.state.heads("batch") == []


def test_a_dead_job_is_tried_anew_from_the_start(place: Place) -> None:
    create(place.state)
    place.state.fail(place.take(), TROUBLE, "dead", busy_s=1.0)
    assert place.state.retry(JobId("j"))
    assert not place.state.retry(JobId("j"))
    assert place.state.dead() == []
    grant = place.take()
    assert (grant.task, grant.attempt) == ("start", 2)
    assert (job(place.state).state, job(place.state).error) == ("running", None)


def test_a_cancelled_job_leaves_nothing_in_the_queues(place: Place) -> None:
    create(place.state)
    first, second = split(place, segments=3)[:2]
    place.state.hand_back(first)
    assert place.state.cancel(JobId("j"))
    assert not place.state.cancel(JobId("j"))
    assert place.state.heads("batch") == []
    assert place.state.beat([Beat(second, 1, "")], lease_s=LEASE_S) == [False]
    assert place.state.expire() == 0
    assert place.state.open_jobs(ACME) == 0
    assert job(place.state).state == "cancelled"


def test_a_deleted_job_leaves_only_its_sweeps(place: Place) -> None:
    create(place.state)
    split(place)
    assert place.state.delete(JobId("j"))
    assert not place.state.delete(JobId("j"))
    kinds = {key.removeprefix("mien:").split(":")[0] for key in place.state.client.scan_iter()}
    assert kinds <= {"sweeps", "served", "claim", "counts"}


def test_events_tell_what_happened_and_wait_for_more(place: Place) -> None:
    create(place.state)
    first = place.state.events(JobId("j"))
    assert [(event.kind, event.data) for event in first] == [("state", {"state": "queued"})]
    canceller = threading.Timer(0.05, lambda: place.state.cancel(JobId("j")))
    canceller.start()
    more = place.state.events(JobId("j"), first[-1].id, wait_s=15.0)
    canceller.join()
    assert [(event.kind, event.data) for event in more] == [("state", {"state": "cancelled"})]


def test_a_tenant_with_one_job_does_not_wait_for_anothers_hundred(place: Place) -> None:
    for number in range(100):
        create(place.state, f"many{number}", tenant="many")
    for _ in range(3):
        place.take()
    create(place.state, "only", tenant="few")
    order = [place.take().job for _ in range(2)]
    assert "only" in order


def test_who_comes_back_is_owed_nothing(place: Place) -> None:
    create(place.state, "early", tenant="guest")
    place.take()
    for number in range(20):
        create(place.state, f"many{number}", tenant="many")
    for _ in range(10):
        place.take()
    for number in range(10):
        create(place.state, f"late{number}", tenant="guest")
    tenants = [job(place.state, place.take().job).tenant for _ in range(6)]
    assert sorted(tenants) == ["guest"] * 3 + ["many"] * 3


def test_small_pictures_are_taken_together_and_videos_are_not(place: Place) -> None:
    create(place.state, "p", kind="picture")
    head = place.state.heads("batch")[0]
    assert place.state.claim("batch", head, WORKER, lease_s=LEASE_S, kind="video") is None
    grant = place.state.claim("batch", head, WORKER, lease_s=LEASE_S, kind="picture")
    assert grant is not None
    assert grant.kind == "picture"


def test_what_a_worker_may_have_died_of_is_suspect_until_it_is_done(place: Place) -> None:
    create(place.state)
    place.take(0.001)
    time.sleep(0.002)
    place.state.expire()
    (head,) = place.state.heads("batch")
    assert head.suspect
    assert place.state.claim("batch", head, WORKER, lease_s=LEASE_S, suspects=False) is None
    grant = place.take()
    assert grant.suspect
    assert place.state.split(grant, [(0, 10)], frames=10, output={}, busy_s=1.0)
    assert not place.take().suspect


def test_each_end_of_a_job_brings_a_sweep_now_and_one_when_nobody_can_be_late(place: Place) -> None:
    create(place.state)
    place.state.fail(place.take(0.01), TROUBLE, "refused", busy_s=1.0)
    due = list(place.state.sweeps())
    assert [job for _, job in due] == ["j"]
    place.state.swept(due[0][0])
    time.sleep(0.03)
    assert [job for _, job in place.state.sweeps()] == ["j"]


def test_workers_are_known_while_they_say_so(place: Place) -> None:
    place.state.sign_on(WORKER, {"tier": "batch"}, lease_s=60)
    place.state.sign_on(WorkerId("gone"), {"tier": "batch"}, lease_s=0.001)
    time.sleep(0.002)
    assert place.state.workers() == {WORKER: {"tier": "batch"}}
    place.state.sign_off(WORKER)
    assert place.state.workers() == {}


def test_names_of_segments_stay_in_order() -> None:
    names = [segment_name(number) for number in (0, 9, 10, 99_999)]
    assert names == sorted(names)
