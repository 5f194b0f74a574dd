"""Downloads: ranges, links that expire, thumbnails, and events as they happen."""

from __future__ import annotations

import json
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.service.api.ranges import Span, parse_range
from mien.service.problems import TYPE_PREFIX, Problem
from mien.service.signing import sign_link
from support.api import Api, Caller

CONTENT = bytes(range(256)) * 5000


@pytest.fixture(scope="module")
def finished(api: Api) -> tuple[Caller, str]:
    """A caller and their finished job."""
    caller = api.caller()
    job = caller.job()["id"]
    api.finish(job, CONTENT, {7: b"seventh"}, name="résultat.jpg")
    return caller, job


def test_the_whole_result(finished: tuple[Caller, str]) -> None:
    caller, job = finished
    response = caller.http.get(f"/v1/jobs/{job}/result")
    assert (response.status_code, response.content) == (200, CONTENT)
    assert response.headers["content-type"] == "image/jpeg"
    assert response.headers["accept-ranges"] == "bytes"
    assert response.headers["content-disposition"] == "attachment; filename*=UTF-8''r%C3%A9sultat.jpg"
    assert int(response.headers["content-length"]) == len(CONTENT)


@pytest.mark.parametrize(
    ("asked", "first", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-199", 100, 200),
        ("bytes=1279990-", 1279990, 1280000),
        ("bytes=1279990-9999999", 1279990, 1280000),
        ("bytes=-5", 1279995, 1280000),
        ("bytes=-9999999", 0, 1280000),
    ],
)
def test_a_range_of_it(finished: tuple[Caller, str], asked: str, first: int, end: int) -> None:
    caller, job = finished
    response = caller.http.get(f"/v1/jobs/{job}/result", headers={"Range": asked})
    assert (response.status_code, response.content) == (206, CONTENT[first:end])
    assert response.headers["content-range"] == f"bytes {first}-{end - 1}/{len(CONTENT)}"


@pytest.mark.parametrize("asked", ["bytes=2-1", "bytes=a-b", "bytes=0-1,5-6", "lines=1-2", "bytes=-", ""])
def test_a_range_that_is_not_understood_is_none(finished: tuple[Caller, str], asked: str) -> None:
    caller, job = finished
    response = caller.http.get(f"/v1/jobs/{job}/result", headers={"Range": asked})
    assert (response.status_code, len(response.content)) == (200, len(CONTENT))


@pytest.mark.parametrize("asked", ["bytes=1280000-", "bytes=9999999-99999999", "bytes=-0"])
def test_a_range_outside_of_the_file_is_refused(finished: tuple[Caller, str], asked: str) -> None:
    caller, job = finished
    response = caller.http.get(f"/v1/jobs/{job}/result", headers={"Range": asked})
    assert (response.status_code, response.json()["type"]) == (416, f"{TYPE_PREFIX}range")


def test_the_rest_is_given_only_of_the_same_result(finished: tuple[Caller, str]) -> None:
    caller, job = finished
    tag = caller.http.get(f"/v1/jobs/{job}/result", headers={"Range": "bytes=0-0"}).headers["etag"]
    same = caller.http.get(f"/v1/jobs/{job}/result", headers={"Range": "bytes=9-", "If-Range": tag})
    other = caller.http.get(f"/v1/jobs/{job}/result", headers={"Range": "bytes=9-", "If-Range": '"old"'})
    assert (same.status_code, other.status_code) == (206, 200)


@given(first=st.integers(0, 300), last=st.integers(0, 300), size=st.integers(1, 200))
def test_a_range_is_what_a_slice_is(first: int, last: int, size: int) -> None:
    whole = list(range(size))
    try:
        span = parse_range(f"bytes={first}-{last}", size)
    except Problem:
        assert not whole[first : last + 1]
    else:
        assert whole[slice(*span)] == whole[first : last + 1] if span else last < first


def test_all_of_an_empty_file_is_no_range() -> None:
    assert parse_range(None, 0) is None
    assert parse_range("bytes=0-", 5) == Span(0, 5)


def test_a_link_opens_until_it_expires(api: Api, finished: tuple[Caller, str]) -> None:
    caller, job = finished
    told = caller.http.post(f"/v1/jobs/{job}/links", json={"valid_s": 600}).json()
    response = httpx.get(told["url"], headers={"Range": "bytes=3-5"})
    assert (response.status_code, response.content) == (206, CONTENT[3:6])
    query = parse_qs(urlsplit(told["url"]).query)
    expires, signature = int(query["expires"][0]), query["signature"][0]
    base = f"{api.url}/v1/results/{job}"
    for changed in (f"expires={expires + 1}&signature={signature}", f"expires={expires}&signature={'0' * 64}"):
        assert httpx.get(f"{base}?{changed}").status_code == 404
    old = 1_700_000_000
    assert httpx.get(f"{base}?expires={old}&signature={sign_link(api.front.secret, job, old)}").status_code == 410
    other = caller.job()["id"]
    assert httpx.get(f"{api.url}/v1/results/{other}?expires={expires}&signature={signature}").status_code == 404


def test_flagged_frames_have_their_pictures(finished: tuple[Caller, str]) -> None:
    caller, job = finished
    assert caller.http.get(f"/v1/jobs/{job}").json()["flagged"] == [
        {"frame": 7, "time_s": 7 / 25, "reason": "test", "thumbnail": True}
    ]
    response = caller.http.get(f"/v1/jobs/{job}/flagged/7")
    assert (response.status_code, response.content, response.headers["content-type"]) == (200, b"seventh", "image/jpeg")
    assert caller.http.get(f"/v1/jobs/{job}/flagged/8").status_code == 404


def _events(caller: Caller, job: str, after: str | None = None) -> list[tuple[str, str, Any]]:
    found: list[tuple[str, str, Any]] = []
    fields: dict[str, str] = {}
    headers = {"Last-Event-ID": after} if after else {}
    with caller.http.stream("GET", f"/v1/jobs/{job}/events", headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if line:
                fields[name] = value
            elif "data" in fields:
                found.append((fields["id"], fields["event"], json.loads(fields["data"])))
                fields = {}
    return found


def test_events_are_told_as_they_happen_until_the_end(api: Api, caller: Caller) -> None:
    job = caller.job()["id"]
    heard: list[tuple[str, str, Any]] = []
    listener = threading.Thread(target=lambda: heard.extend(_events(caller, job)))
    listener.start()
    api.finish(job, b"picture")
    listener.join(30)
    assert not listener.is_alive()
    assert [data["state"] for _, kind, data in heard if kind == "state"] == ["queued", "running", "done"]
    assert _events(caller, job) == heard
    assert _events(caller, job, after=heard[0][0]) == heard[1:]
    assert _events(caller, job, after=heard[-1][0]) == []


def test_a_listener_of_a_job_that_is_deleted_is_let_go(api: Api, caller: Caller) -> None:
    job = caller.job()["id"]
    with caller.http.stream("GET", f"/v1/jobs/{job}/events") as response:
        lines = response.iter_lines()
        while "queued" not in next(lines):
            pass
        api.front.cleaner.forget_job(job)
        assert list(lines) is not None  # It ends.
