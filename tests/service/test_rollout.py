import json
from typing import Any

import pytest

from mien.cli import main
from mien.errors import UsageError
from mien.service.breaker import Bounds
from mien.service.records import Failure, Job, JobId
from mien.service.rollout import Rollouts, bucket
from support.service import ACME, Place


def job(name: str = "j", **recipe: Any) -> Job:
    return Job(JobId(name), ACME, {"target": "asset:a", "output": "out.jpg", **recipe})


def ended(place: Place, name: str, model: str, ok: bool | None, **figures: float) -> None:
    outcome = {"job": name, "models": {"swapper": model}, "ok": ok, "why": "it broke", **figures}
    place.state.client.rpush(place.state.key("outcomes"), json.dumps(outcome))


@pytest.fixture
def rollouts(place: Place) -> Rollouts:
    found = Rollouts(place.state)
    found.set("swapper", stable="old", canary="new", share=0.5)
    return found


def test_a_share_of_the_jobs_stays_with_the_canary(rollouts: Rollouts, place: Place) -> None:
    names = [f"job{number}" for number in range(200)]
    chosen: dict[str, str] = {}
    for name in names:
        channel, models = rollouts.assign(job(name))
        chosen[name] = models["swapper"]
        assert (channel == "canary") == (models["swapper"] == "new") == (bucket("swapper", JobId(name)) < 0.5)
        ended(place, name, models["swapper"], ok=True)
        rollouts.learn()
    assert 70 <= sum(model == "new" for model in chosen.values()) <= 130
    assert all(rollouts.assign(job(name))[1]["swapper"] == chosen[name] for name in names[:3])


def test_no_more_jobs_are_in_flight_than_may_fail(rollouts: Rollouts) -> None:
    rollouts.set("swapper", stable="old", canary="new", share=1.0)
    models = [rollouts.assign(job(f"job{number}"))[1]["swapper"] for number in range(10)]
    assert models == ["new"] * 5 + ["old"] * 5


def test_the_fifth_failure_opens_and_everybody_sees_why(rollouts: Rollouts, place: Place) -> None:
    for number in range(5):
        ended(place, f"job{number}", "new", ok=False)
    rollouts.learn()
    place.valkey.restart()
    breaker = Rollouts(place.state).all()["swapper"].breaker
    assert (breaker.state, breaker.why) == ("open", "5 failures in a row, the last: it broke")
    rollouts.set("swapper", stable="old", canary="new", share=1.0)
    assert rollouts.assign(job())[0] == "stable"


def test_a_canary_that_is_slower_opens_the_breaker(rollouts: Rollouts, place: Place) -> None:
    for model, seconds in (("old", 1.0), ("new", 2.0)):
        for number in range(Bounds().least):
            ended(place, f"{model}{number}", model, ok=True, seconds_per_frame=seconds)
    rollouts.learn()
    assert "s a frame" in rollouts.all()["swapper"].breaker.why


def test_a_job_that_was_cancelled_makes_room_and_says_nothing(rollouts: Rollouts, place: Place) -> None:
    rollouts.set("swapper", stable="old", canary="new", share=1.0)
    for number in range(5):
        rollouts.assign(job(f"job{number}"))
    assert len(rollouts.all()["swapper"].in_flight) == 5
    ended(place, "job0", "new", ok=None)
    rollouts.learn()
    rollout = rollouts.all()["swapper"]
    assert (len(rollout.in_flight), rollout.breaker.failures) == (4, 0)


def test_a_job_with_a_network_of_its_own_keeps_it(rollouts: Rollouts) -> None:
    assert rollouts.assign(job(swapper="mine")) == ("stable", {})


def test_promoting_and_rolling_back(rollouts: Rollouts) -> None:
    assert rollouts.promote("swapper") == "new"
    assert rollouts.all()["swapper"].stable == "new"
    with pytest.raises(UsageError, match="no canary"):
        rollouts.roll_back("swapper")
    rollouts.set("swapper", stable="new", canary="newer", share=1.0)
    assert rollouts.roll_back("swapper") == "newer"
    assert rollouts.assign(job())[1] == {"swapper": "new"}


@pytest.mark.parametrize(("role", "share"), [("hat", 0.5), ("swapper", 1.5)])
def test_what_makes_no_sense_is_refused(rollouts: Rollouts, role: str, share: float) -> None:
    with pytest.raises(UsageError):
        rollouts.set(role, stable="a", canary="b", share=share)


def test_the_commands(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    queue = ["--queue", place.valkey.url]
    assert main(["rollout", "status", *queue]) == 0
    assert "nothing is rolled out" in capsys.readouterr().out
    assert main(["rollout", "set", "swapper", "--stable", "old", "--canary", "new", "--share", "0.25", *queue]) == 0
    assert main(["rollout", "status", *queue]) == 0
    assert "25 %" in capsys.readouterr().out
    assert main(["rollout", "status", "--json", *queue]) == 0
    assert json.loads(capsys.readouterr().out)["swapper"]["canary"] == "new"
    assert main(["rollout", "promote", "swapper", *queue]) == 0
    assert main(["rollout", "rollback", "swapper", *queue]) == 2


def test_dead_letters_are_listed_and_requeued(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    queue = ["--queue", place.valkey.url]
    assert main(["jobs", "dead", *queue]) == 0
    assert "no job failed for good" in capsys.readouterr().out
    poison = place.submit({"target": "asset:a", "output": "out.jpg"})
    place.state.fail(place.take(), Failure("JobError", "trouble"), "dead", busy_s=1.0)
    assert main(["jobs", "dead", *queue]) == 0
    assert "trouble" in capsys.readouterr().out
    assert main(["jobs", "requeue", *queue]) == 2
    assert main(["jobs", "requeue", "--all", *queue]) == 0
    assert main(["jobs", "requeue", poison, *queue]) == 2
    assert place.job(poison).state == "queued"
