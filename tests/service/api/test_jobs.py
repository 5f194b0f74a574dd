"""Asking for jobs: what is checked first, what is done once, and what becomes of them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from mien.service.keys import Limits
from mien.service.problems import TYPE_PREFIX
from mien.service.records import JobId
from support.api import PORTRAIT, STREET, Api, Caller
from support.jobs import landscape


def _refused(caller: Caller, recipe: dict[str, Any], path: str = "/v1/jobs", **more: Any) -> tuple[int, str, str]:
    response = caller.http.post(path, json={"recipe": recipe, **more})
    body = response.json()
    return response.status_code, body["type"].removeprefix(TYPE_PREFIX), body["detail"]


@pytest.fixture
def recipe(caller: Caller) -> dict[str, Any]:
    return caller.picture_recipe()["recipe"]


def test_a_job_waits_in_its_queue_as_it_was_asked_for(api: Api, caller: Caller, recipe: dict[str, Any]) -> None:
    job = caller.http.post(
        "/v1/jobs", json={"recipe": {**recipe, "faces": "largest"}, "priority": "high", "review_above": 0.5}
    ).json()
    assert (job["state"], job["tier"], job["priority"], job["kind"]) == ("queued", "batch", "high", "picture")
    assert job["recipe"]["output"] == "result.jpg"
    kept = api.front.state.job(JobId(job["id"]))
    assert kept is not None
    assert kept.recipe["faces"] == "largest"
    assert kept.recipe["sources"] == [f"asset:{caller.made['source']}"]
    assert (kept.tenant, kept.review_above, len(kept.trace)) == (caller.key.tenant, 0.5, 32)
    assert caller.http.get("/v1/jobs").json()["jobs"][0]["id"] == job["id"]


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/estimates"])
def test_what_cannot_be_done_is_refused_with_what_to_change(
    caller: Caller, recipe: dict[str, Any], tmp_path: Path, path: str
) -> None:
    landscape(tmp_path / "nobody.png")
    nobody = caller.upload(tmp_path / "nobody.png")["id"]
    cases = [
        ({**recipe, "sources": [nobody]}, 422, "no_face", nobody),
        ({**recipe, "reference": nobody}, 422, "no_face", nobody),
        ({**recipe, "sources": []}, 422, "recipe", "sources"),
        ({**recipe, "target": "asset_nothing"}, 404, "not_found", "asset_nothing"),
        ({**recipe, "effects": ["swap", "sparkle"]}, 422, "recipe", "sparkle"),
        ({**recipe, "mask": ["box", "hat"]}, 422, "recipe", "hat"),
        ({**recipe, "faces": "loudest"}, 422, "recipe", "loudest"),
        ({**recipe, "shape": 2}, 422, "recipe", "shape"),
        ({**recipe, "swapper": "nobody_knows"}, 422, "model", "nobody_knows"),
        ({**recipe, "swapper": "/etc/passwd"}, 422, "recipe", "by its id"),
        ({**recipe, "restorer": "..\\x.onnx"}, 422, "recipe", "by its id"),
        ({**recipe, "output": "../../x.jpg"}, 422, "recipe", "bare file name"),
        ({**recipe, "output": "result.exe"}, 415, "unsupported_media", "exe"),
        ({**recipe, "models": ["/"]}, 422, "malformed_request", "models"),
        ({**recipe, "certificate": "/etc/x.pem"}, 422, "malformed_request", "certificate"),
        ({**recipe, "device": "cuda:7"}, 422, "malformed_request", "device"),
        ({**recipe, "target": "https://example.com/x.mp4"}, 403, "policy_refused", "upload"),
        ({**recipe, "target": "file:///etc/passwd"}, 403, "policy_refused", "upload"),
        ({"target": recipe["target"], "map": [{"sources": [nobody], "reference": recipe["target"]}]}, 422, "no_face",
         nobody),
    ]  # fmt: skip
    for one, status, kind, word in cases:
        found = _refused(caller, one, path)
        assert found[:2] == (status, kind), (one, found)
        assert word in found[2], found
    assert caller.http.get("/v1/jobs").json() == {"jobs": []}


def test_a_video_is_no_source(caller: Caller, recipe: dict[str, Any], talking: Path) -> None:
    clip = caller.upload(talking)["id"]
    assert _refused(caller, {**recipe, "sources": [clip]})[:2] == (415, "unsupported_media")


def test_the_estimate_is_that_of_the_plan_with_its_price(caller: Caller, talking: Path, tmp_path: Path) -> None:
    from mien.pipeline.api import plan
    from mien.recipe import Recipe

    recipe = {"target": caller.upload(talking)["id"], "sources": [caller.upload(PORTRAIT)["id"]]}
    estimate = caller.http.post("/v1/estimates", json={"recipe": recipe}).json()
    here = plan(Recipe(target=str(talking), sources=(str(PORTRAIT),), output=str(tmp_path / "out.mp4")))
    assert estimate["seconds"] == pytest.approx(here.estimated_seconds)
    assert estimate["memory_bytes"] == here.expected_memory_bytes
    assert (estimate["kind"], estimate["frames"], estimate["segments"]) == ("video", here.frames, here.segments)
    assert estimate["cost"] == pytest.approx(here.estimated_seconds / 3600)  # The price is 1 an hour.


def test_a_job_over_a_limit_of_the_key_is_refused(api: Api, talking: Path) -> None:
    poor = api.caller(limits=Limits(cost_per_job=0.0))
    status, kind, detail = _refused(poor, poor.picture_recipe()["recipe"])
    assert (status, kind) == (403, "over_limit")
    assert "limit is 0" in detail
    busy = api.caller(limits=Limits(jobs_in_flight=1))
    first = busy.job()["id"]
    assert _refused(busy, busy.picture_recipe()["recipe"])[:2] == (429, "quota")
    api.finish(first, b"picture")
    busy.job()
    brief = api.caller(limits=Limits(minutes_per_day=2.5 / 60))
    clip = brief.upload(talking)["id"]
    recipe = {"target": clip, "sources": [brief.upload(PORTRAIT)["id"]]}
    response = brief.http.post("/v1/jobs", json={"recipe": {**recipe, "end": "1"}})
    assert response.status_code == 201
    assert _refused(brief, recipe)[:2] == (429, "quota")
    # What was refused is not counted.
    assert brief.http.post("/v1/jobs", json={"recipe": {**recipe, "end": "1"}}).status_code == 201


def test_a_request_with_one_idempotency_key_makes_one_job(api: Api, caller: Caller, recipe: dict[str, Any]) -> None:
    headers = {"Idempotency-Key": "the-same"}
    with ThreadPoolExecutor(6) as pool:
        answers = list(
            pool.map(lambda _: caller.http.post("/v1/jobs", json={"recipe": recipe}, headers=headers), range(6))
        )
    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    refused = {(answer.status_code, answer.json()["type"]) for answer in answers if answer.status_code != 201}
    assert len(made) == 1
    assert refused <= {(409, f"{TYPE_PREFIX}in_flight")}
    assert len(caller.http.get("/v1/jobs").json()["jobs"]) == 1
    later = caller.http.post("/v1/jobs", json={"recipe": recipe}, headers=headers)
    assert (later.status_code, later.json()["id"]) == (201, made.pop())
    other = caller.http.post("/v1/jobs", json={"recipe": {**recipe, "faces": "largest"}}, headers=headers)
    assert (other.status_code, other.json()["type"]) == (422, f"{TYPE_PREFIX}key_reused")
    # It is the tenant's own.
    stranger = api.caller()
    assert stranger.http.post("/v1/jobs", json=stranger.picture_recipe(), headers=headers).status_code == 201


def test_while_the_first_is_being_answered_the_second_is_told_so(
    api: Api, caller: Caller, recipe: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()
    plan = type(api.front.inspector).plan

    def slow_plan(*arguments: Any) -> Any:
        reached.set()
        assert go_on.wait(30)
        return plan(*arguments)

    monkeypatch.setattr(type(api.front.inspector), "plan", slow_plan)
    headers = {"Idempotency-Key": "slow"}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(caller.http.post, "/v1/jobs", json={"recipe": recipe}, headers=headers)
        assert reached.wait(30)
        second = caller.http.post("/v1/jobs", json={"recipe": recipe}, headers=headers)
        assert (second.status_code, second.json()["type"]) == (409, f"{TYPE_PREFIX}in_flight")
        go_on.set()
        assert first.result().status_code == 201


def test_a_refused_request_may_be_put_right_under_its_key(caller: Caller, recipe: dict[str, Any]) -> None:
    headers = {"Idempotency-Key": "right-at-last"}
    wrong = {"recipe": {**recipe, "effects": ["sparkle"]}}
    assert caller.http.post("/v1/jobs", json=wrong, headers=headers).status_code == 422
    assert caller.http.post("/v1/jobs", json={"recipe": recipe}, headers=headers).status_code == 201


def test_cancel_and_retry(api: Api, caller: Caller) -> None:
    job = caller.job()["id"]
    assert caller.http.post(f"/v1/jobs/{job}/retry").status_code == 409
    assert caller.http.post(f"/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
    assert caller.http.post(f"/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
    assert caller.http.post(f"/v1/jobs/{job}/retry").json()["state"] == "queued"
    api.finish(job, b"picture")
    response = caller.http.post(f"/v1/jobs/{job}/cancel")
    assert (response.status_code, response.json()["state"]) == (409, "done")
    assert caller.http.post(f"/v1/jobs/{job}/retry").status_code == 409


def test_why_a_job_failed_is_told_as_a_problem_is(api: Api, caller: Caller) -> None:
    job = caller.job()["id"]
    api.fail(job, "NoFaceError", "asset shows no face")
    told = caller.http.get(f"/v1/jobs/{job}").json()
    assert (told["state"], told["error"]) == ("failed", {"kind": "no_face", "message": "asset shows no face"})
    response = caller.http.get(f"/v1/jobs/{job}/result")
    assert (response.status_code, response.json()["state"]) == (409, "failed")
    assert caller.http.post(f"/v1/jobs/{job}/retry").json()["state"] == "queued"


def test_progress_and_segments_are_shown(api: Api, caller: Caller, talking: Path) -> None:
    from mien.service.state import Beat

    clip = caller.upload(talking)["id"]
    job = caller.http.post("/v1/jobs", json={"recipe": {"target": clip, "sources": [caller.upload(PORTRAIT)["id"]]}})
    name = job.json()["id"]
    state = api.front.state
    assert state.split(api.take(name), [(0, 25), (25, 50)], frames=50, output={}, busy_s=1.0)
    grant = api.take(name)
    assert state.beat([Beat(grant, 10, "swapping")], lease_s=60) == [True]
    told = caller.http.get(f"/v1/jobs/{name}").json()
    assert (told["state"], told["stage"], told["frames"], told["frames_done"]) == ("running", "swapping", 50, 10)
    assert told["progress"] == pytest.approx(0.2)
    assert told["seconds_left"] > 0
    assert [(one["first"], one["end"], one["frames_done"]) for one in told["segments"]] in (
        [(0, 25, 10), (25, 50, 0)],
        [(0, 25, 0), (25, 50, 10)],
    )
    assert told["cost"] == pytest.approx(1 / 3600)
    assert caller.http.post(f"/v1/jobs/{name}/cancel").status_code == 200


def test_deleted_is_gone(api: Api, caller: Caller) -> None:
    job = caller.job()["id"]
    api.finish(job, b"picture", {0: b"small"})
    link = caller.http.post(f"/v1/jobs/{job}/links", json={}).json()["url"]
    assert httpx.get(link).content == b"picture"
    assert caller.http.delete(f"/v1/jobs/{job}").status_code == 204
    assert caller.http.get(f"/v1/jobs/{job}").status_code == 404
    assert caller.http.delete(f"/v1/jobs/{job}").status_code == 404
    assert httpx.get(link).status_code == 404
    assert not list(api.front.storage.list(f"jobs/{job}/"))
    assert api.front.usage.stored_bytes(caller.key.id) == STREET.stat().st_size + PORTRAIT.stat().st_size


def test_what_was_done_is_in_the_audit_log(api: Api, caller: Caller) -> None:
    job = caller.job()["id"]
    caller.http.post(f"/v1/jobs/{job}/cancel")
    caller.http.delete(f"/v1/jobs/{job}")
    entries = [entry for entry in api.front.audit.entries() if entry.facts.get("key") == caller.key.id]
    assert [entry.event for entry in entries] == [
        "asset.added",
        "asset.added",
        "job.created",
        "job.cancelled",
        "job.deleted",
    ]
    assert api.front.audit.verify() >= 5


def test_what_was_kept_long_enough_is_deleted(api: Api, caller: Caller) -> None:
    done, waiting = caller.job()["id"], caller.job()["id"]
    api.finish(done, b"picture")
    assert api.front.settings.job_kept_s is not None
    soon, later = time.time() + 60, time.time() + api.front.settings.job_kept_s + 60
    api.front.cleaner.clean(soon)
    assert caller.http.get(f"/v1/jobs/{done}").status_code == 200
    api.front.cleaner.clean(later)
    assert caller.http.get(f"/v1/jobs/{done}").status_code == 404
    assert not list(api.front.storage.list(f"jobs/{done}/"))
    # What waits is not finished, and needs its files.
    assert caller.http.get(f"/v1/jobs/{waiting}").json()["state"] == "queued"
    assert caller.http.get(f"/v1/assets/{caller.made['source']}").status_code == 200
    caller.http.post(f"/v1/jobs/{waiting}/cancel")
    api.front.cleaner.clean(later)
    assert caller.http.get(f"/v1/assets/{caller.made['source']}").status_code == 404


def test_others_are_answered_while_many_wait_for_a_look_at_their_files(
    api: Api, caller: Caller, recipe: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()
    plan = type(api.front.inspector).plan

    def slow_plan(*arguments: Any) -> Any:
        reached.set()
        assert go_on.wait(60)
        return plan(*arguments)

    monkeypatch.setattr(type(api.front.inspector), "plan", slow_plan)
    waiting = 60  # More than the threads that serve all other calls.
    with ThreadPoolExecutor(waiting) as pool:
        asked = [pool.submit(caller.http.post, "/v1/estimates", json={"recipe": recipe}) for _ in range(waiting)]
        assert reached.wait(30)
        assert caller.http.get("/v1/jobs", timeout=30).status_code == 200
        go_on.set()
        assert {one.result().status_code for one in asked} == {200}
