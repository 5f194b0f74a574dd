"""What a worker takes beside what it has."""

import time
from pathlib import Path

from mien.service.records import WorkerId
from mien.service.worker import Taking, WorkerSettings
from support.service import Place

RECIPE = {"target": "asset:a", "output": "out.jpg"}


def taking(place: Place, tmp_path: Path) -> Taking:
    return Taking(place.state, WorkerId("w"), WorkerSettings(tmp_path, lease_s=60.0))


def lose(place: Place) -> None:
    """Let the worker that takes the next task be lost."""
    place.take(0.001)
    time.sleep(0.002)
    assert place.state.expire() == 1


def test_small_pictures_that_wait_are_taken_together(place: Place, tmp_path: Path) -> None:
    for _ in range(10):
        place.submit(RECIPE)
    ours = taking(place, tmp_path)
    assert [len(ours.take()) for _ in range(6)] == [4, 2, 2, 1, 1, 0]


def test_videos_are_taken_one_by_one(place: Place, tmp_path: Path) -> None:
    for _ in range(10):
        place.submit(RECIPE, kind="video")
    assert len(taking(place, tmp_path).take()) == 1


def test_what_may_have_killed_a_worker_runs_alone(place: Place, tmp_path: Path) -> None:
    poison = place.submit(RECIPE)
    lose(place)
    others = [place.submit(RECIPE) for _ in range(3)]
    ours = taking(place, tmp_path)
    (suspect,) = ours.take()
    assert (suspect.job, suspect.suspect) == (poison, True)
    assert ours.take() == ()
    ours.done(suspect)
    assert {grant.job for _ in range(2) for grant in ours.take()} <= set(others)


def test_a_suspect_waits_until_its_worker_has_finished_the_rest(place: Place, tmp_path: Path) -> None:
    first = place.submit(RECIPE, kind="video", priority="high")
    ours = taking(place, tmp_path)
    (held,) = ours.take()
    assert held.job == first
    place.submit(RECIPE)
    lose(place)
    assert ours.take() == ()
    ours.done(held)
    assert [grant.suspect for grant in ours.take()] == [True]


def test_a_worker_of_several_tiers_begins_with_the_first(place: Place, tmp_path: Path) -> None:
    jobs = {tier: place.submit(RECIPE, tier=tier) for tier in ("batch", "preview", "realtime")}
    settings = WorkerSettings(tmp_path, tiers=("realtime", "batch"), lease_s=60.0)
    ours = Taking(place.state, WorkerId("w"), settings)
    assert [grant.job for _ in range(3) for grant in ours.take()] == [jobs["realtime"], jobs["batch"]]


def test_a_worker_that_closes_takes_nothing_more(place: Place, tmp_path: Path) -> None:
    place.submit(RECIPE)
    ours = taking(place, tmp_path)
    ours.close()
    assert ours.take() == ()
