"""The client, against a service behind a transport that breaks as networks do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from mien.client import Client, Event
from mien.client.reports import read_report
from mien.client.streams import read_events
from mien.errors import (
    Interrupted,
    JobError,
    MienError,
    NoFaceError,
    PolicyError,
    RecipeError,
    UnreadableError,
    UnwritableError,
    UsageError,
)
from mien.recipe import Recipe
from mien.report import ContentCheck, FlaggedFrame, ModelUse, Quality, Report
from mien.service.problems import KINDS, Problem

Handle = Callable[[httpx.Request], httpx.Response]


def _client(handle: Handle) -> Client:
    return Client("http://service", "mien_x", transport=httpx.MockTransport(handle))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setattr("mien.client.transport.time.sleep", pauses.append)
    return pauses


@pytest.mark.parametrize("kind", KINDS)
def test_a_problem_is_the_error_of_the_local_call(kind: str) -> None:
    problem = Problem(KINDS[kind], "what to change").to_mapping()
    answer = httpx.Response(problem["status"], json=problem)
    with _client(lambda _: answer) as client, pytest.raises(KINDS[kind].error, match="what to change"):
        client.job("job_1")


def test_what_passes_is_tried_again(no_pauses: list[float]) -> None:
    later, slower = (Problem(KINDS[kind], "wait").to_mapping() for kind in ("unavailable", "rate"))
    answers = [
        httpx.Response(503, json=later, headers={"Retry-After": "3"}),
        httpx.Response(429, json=slower),
        httpx.Response(200, json={"jobs": []}),
    ]
    with _client(lambda _: answers.pop(0)) as client:
        assert client.jobs() == []
    assert no_pauses == [3, 1]


def test_a_quota_until_tomorrow_is_not_waited_for(no_pauses: list[float]) -> None:
    answer = httpx.Response(429, json=Problem(KINDS["quota"], "tomorrow").to_mapping(), headers={"Retry-After": "9000"})
    with _client(lambda _: answer) as client, pytest.raises(PolicyError, match="tomorrow"):
        client.create({})
    assert no_pauses == []


def test_a_lost_answer_is_asked_for_again_under_the_same_key() -> None:
    keys: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["idempotency-key"])
        if len(keys) < 3:
            raise httpx.ReadError("lost")
        return httpx.Response(201, json={"id": "asset_1", "name": "f", "size_bytes": 1, "sha256": "", "media_type": "",
                                         "created_at": 0, "kind": "picture", "width": 1, "height": 1, "frames": 1,
                                         "seconds": 0, "unknown": "of a later version"})  # fmt: skip

    with _client(handle) as client:
        assert client.upload(__file__).id == "asset_1"
    assert len(set(keys)) == 1


def test_nobody_answers() -> None:
    def handle(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with _client(handle) as client, pytest.raises(JobError, match="http://service does not answer"):
        client.jobs()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"status": 500}'])
def test_somebody_else_answers(body: bytes) -> None:
    with _client(lambda _: httpx.Response(500, content=body)) as client, pytest.raises(JobError, match="address right"):
        client.jobs()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with _client(lambda _: httpx.Response(201)) as client, pytest.raises(UnreadableError, match="nothing"):
        client.upload(tmp_path / "nothing")


def test_events_are_read_and_taken_up_where_they_broke() -> None:
    asked: list[str | None] = []

    def first() -> Iterator[bytes]:
        yield b'retry: 2000\n\nid: 1-0\nevent: state\ndata: {"state": "queued"}\n\n: waiting\n\n'
        raise httpx.ReadError("lost")

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("last-event-id"))
        rest = b'id: 2-0\nevent: state\ndata: {"state":\ndata:  "done"}\n\n'
        return httpx.Response(200, content=first() if len(asked) == 1 else rest)

    with _client(handle) as client:
        heard = list(client.events("job_1"))
    assert asked == [None, "1-0"]
    assert heard == [
        Event(id="1-0", kind="state", data={"state": "queued"}),
        None,
        Event(id="2-0", kind="state", data={"state": "done"}),
    ]
    assert list(read_events(["data: 1"])) == []


def test_a_download_goes_on_where_it_broke(tmp_path: Path) -> None:
    content = bytes(range(256)) * 100
    asked: list[str | None] = []

    def broken() -> Iterator[bytes]:
        yield content[:10_000]
        raise httpx.ReadError("lost")

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("range"))
        headers = {"ETag": '"one"', "Content-Length": str(len(content))}
        if len(asked) == 1:
            return httpx.Response(200, content=broken(), headers=headers)
        assert request.headers["if-range"] == '"one"'
        return httpx.Response(206, content=content[10_000:])

    with _client(handle) as client:
        client.download("job_1", tmp_path / "result.bin")
    assert asked == [None, "bytes=10000-"]
    assert (tmp_path / "result.bin").read_bytes() == content


def test_a_download_that_never_comes_leaves_nothing(tmp_path: Path) -> None:
    def handle(_: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("lost")

    with _client(handle) as client:
        with pytest.raises(JobError, match="job_1"):
            client.download("job_1", tmp_path / "result.bin")
        with pytest.raises(UnwritableError):
            client.download("job_1", tmp_path / "missing" / "result.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_report_comes_back_as_it_went() -> None:
    report = Report(
        target="a",
        output="b",
        version="1",
        frames=3,
        models=[ModelUse("m", "e", "d", "fp32", 1, 2, 0.5)],
        flagged=[FlaggedFrame(1, 0.04, "why", 7)],
        quality=Quality(identity_distance=0.4),
        content=ContentCheck(["one"], 0.8, 0.1),
        stages={"edit": 1.0},
        price_per_hour=2.0,
    )
    members = json.loads(json.dumps(report.to_mapping()))
    assert read_report(members) == report
    assert read_report({**members, "later": 1}) == report
    assert read_report({**members, "content": None}).content is None


class Service:
    """As much of a service as one swap needs."""

    def __init__(self, error: dict[str, str] | None = None, state: str = "done") -> None:
        self.error = error
        self.state = state
        self.there: set[str] = set()
        self.recipe: dict[str, Any] = {}
        self.uploads = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        method, path = request.method, request.url.path
        if (method, path) == ("POST", "/v1/assets"):
            self.uploads += 1
            self.there.add(name := f"asset_{self.uploads}")
            facts = dict.fromkeys(("size_bytes", "width", "height", "frames", "seconds", "created_at"), 0)
            text = {"id": name, "name": "", "sha256": "", "media_type": "", "kind": "picture"}
            return httpx.Response(201, json={**facts, **text})
        if (method, path) == ("POST", "/v1/jobs"):
            self.recipe = json.loads(request.content)["recipe"]
            self.there.add("job_1")
            return httpx.Response(201, json=self._job("queued"))
        if path.endswith("/events"):
            progress = b'event: progress\ndata: {"stage": "swapping", "frames": 10, "frames_done": 5}\n\n'
            return httpx.Response(200, content=progress)
        if path.endswith("/result"):
            return httpx.Response(200, content=b"result", headers={"ETag": '"1"'})
        if method == "DELETE":
            self.there.discard(path.rpartition("/")[2])
            return httpx.Response(204)
        return httpx.Response(200, json=self._job(self.state))

    def _job(self, state: str) -> dict[str, Any]:
        report = {**Report("there", "there", "1", frames=10).to_mapping(), "flagged": 1, "preview": True}
        nothing = dict.fromkeys(("seconds_left", "started_at", "ended_at", "cost"))
        flagged = [{"frame": 3, "time_s": 0.1, "reason": "blurred", "thumbnail": True}]
        lists: dict[str, Any] = {"segments": [], "flagged": flagged, "recipe": {}}
        numbers = {"frames": 10, "frames_done": 5, "progress": 0.5, "created_at": 0}
        names = {"id": "job_1", "tier": "batch", "priority": "normal", "kind": "video", "stage": "", "state": state}
        result = {"name": "r", "size_bytes": 6, "media_type": "", "report": report} if self.error is None else None
        return {**nothing, **lists, **numbers, **names, "error": self.error, "result": result}


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    for name in ("me.jpg", "clip.mp4"):
        (tmp_path / name).write_bytes(b"content")
    names = {"target": str(tmp_path / "clip.mp4"), "output": str(tmp_path / "out.mp4")}
    return Recipe(sources=(str(tmp_path / "me.jpg"), str(tmp_path / "me.jpg")), **names)


def test_a_swap_leaves_nothing_behind(recipe: Recipe) -> None:
    service = Service()
    shown: list[tuple[str, int]] = []
    with _client(service) as client:
        report = client.run(recipe, progress=lambda one: shown.append((one.stage, one.done)))
    assert Path(recipe.output).read_bytes() == b"result"
    assert (report.target, report.output, report.frames) == (recipe.target, recipe.output, 10)
    assert report.flagged == [FlaggedFrame(3, 0.1, "blurred")]
    assert "preview" in report.warnings[0]
    assert service.recipe == {"target": "asset_1", "sources": ["asset_2", "asset_2"], "output": "out.mp4"}
    assert service.there == set()
    assert ("swapping", 5) in shown


@pytest.mark.parametrize(
    ("error", "state", "kind", "words"),
    [
        ({"kind": "no_face", "message": "asset_2.jpg shows no face"}, "failed", NoFaceError, "me.jpg shows no face"),
        ({"kind": "brand_new", "message": "what"}, "failed", JobError, "what"),
        (None, "cancelled", Interrupted, "cancelled"),
    ],
)
def test_a_job_that_fails_fails_as_here(
    recipe: Recipe, error: dict[str, str] | None, state: str, kind: type[MienError], words: str
) -> None:
    service = Service(error, state)
    with _client(service) as client, pytest.raises(kind, match=words):
        client.run(recipe)
    assert service.there == set()
    assert not Path(recipe.output).exists()


def test_a_swap_that_is_stopped_is_stopped_there(recipe: Recipe) -> None:
    service, asked = Service(), iter([False, False, True])
    with _client(service) as client, pytest.raises(Interrupted):
        client.run(recipe, cancelled=lambda: next(asked))
    assert service.there == set()


@pytest.mark.parametrize("field", [{"device": "cpu"}, {"models": ["x"]}, {"resume": True}, {"price_per_hour": 1.0}])
def test_what_the_service_decides_is_not_passed_over(recipe: Recipe, field: dict[str, Any]) -> None:
    changed = Recipe.from_mapping({**recipe.to_mapping(), **field})
    with _client(Service()) as client, pytest.raises(UsageError, match=f"'{next(iter(field))}'"):
        client.run(changed)


def test_the_output_is_looked_at_first(recipe: Recipe) -> None:
    Path(recipe.output).write_bytes(b"there already")
    service = Service()
    with _client(service) as client:
        with pytest.raises(UnwritableError, match="overwrite"):
            client.run(recipe)
        assert service.uploads == 0
        client.run(Recipe.from_mapping({**recipe.to_mapping(), "overwrite": True}))
    assert Path(recipe.output).read_bytes() == b"result"


def test_options_are_those_of_a_recipe(tmp_path: Path) -> None:
    with _client(Service()) as client, pytest.raises(RecipeError, match="colour"):
        client.swap("a.jpg", "b.jpg", tmp_path / "c.jpg", colour="red")


@pytest.mark.parametrize(
    ("url", "key"), [("http://[::1", "mien_x"), ("http://x", "ü"), ("http://x", ""), ("http://x", "a\nb")]
)
def test_what_is_no_service_and_no_key(url: str, key: str) -> None:
    with pytest.raises(UsageError):
        Client(url, key)
