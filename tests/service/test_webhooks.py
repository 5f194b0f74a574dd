"""Webhooks: signed so that others can check them, sent again until they are taken, and to nobody inside."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mien.service.addresses import check_link, parse_webhook, resolve
from mien.service.api.postman import Postman
from mien.service.problems import Problem
from mien.service.records import Job, JobId, TenantId
from mien.service.signing import SIGNATURE_HEADER, sign, verify, webhook_secret
from mien.service.webhooks import WAITS_S, Delivery, deliver, judge
from support.service import Place

NOW_S = 1_790_000_000.0
HERE = ("127.0.0.1",)


@dataclass
class Receiver:
    """Somebody's server, which answers as it is told."""

    answers: list[int]
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver([])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.got.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(found.answers.pop(0) if found.answers else 200)
            self.send_header("Content-Length", "0")
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_port}/hook?who=me"
        yield found
        server.shutdown()
        thread.join()


def test_whoever_has_the_secret_can_check_the_signature() -> None:
    header = sign("secret", b'{"a":1}', NOW_S)
    moment, digest = header.removeprefix("t=").split(",v1=")
    assert moment == "1790000000"
    assert digest == hmac.new(b"secret", b'1790000000.{"a":1}', hashlib.sha256).hexdigest()
    assert verify("secret", b'{"a":1}', header, NOW_S + 10)


@pytest.mark.parametrize(
    ("secret", "body", "change", "later_s"),
    [
        ("other", b"x", "", 0),
        ("secret", b"y", "", 0),
        ("secret", b"x", "0", 0),
        ("secret", b"x", "", 301),
        ("secret", b"x", "", -301),
    ],
)
def test_what_is_forged_changed_or_old_is_not_taken(secret: str, body: bytes, change: str, later_s: float) -> None:
    assert not verify(secret, body, sign("secret", b"x", NOW_S) + change, NOW_S + later_s)


@pytest.mark.parametrize(
    ("status", "tries", "verdict"),
    [
        (200, 1, "taken"),
        (204, 9, "taken"),
        (410, 1, "given up"),
        (500, 1, "again"),
        (302, 1, "again"),
        (404, len(WAITS_S), "again"),
        (None, 1, "again"),
        (None, len(WAITS_S) + 1, "given up"),
    ],
)
def test_what_follows_from_an_answer(status: int | None, tries: int, verdict: str) -> None:
    assert judge(status, tries) == verdict


def test_a_message_arrives_signed_and_nobody_is_followed(receiver: Receiver) -> None:
    receiver.answers = [302]
    assert deliver(Delivery("d1", receiver.url, b"{}", "secret"), HERE, NOW_S) == 302
    (headers, body) = receiver.got[0]
    assert verify("secret", body, headers[SIGNATURE_HEADER], NOW_S)
    assert headers["Mien-Delivery"] == "d1"
    assert len(receiver.got) == 1


def test_nobody_answers() -> None:
    assert deliver(Delivery("d1", "http://127.0.0.1:1/", b"{}", "secret"), HERE, NOW_S) is None


def test_a_job_that_ends_is_told_until_it_is_taken(place: Place, receiver: Receiver) -> None:
    now_s = [place.state.now_s()]
    outcomes: list[str] = []
    postman = Postman(place.state, b"installation", HERE, outcomes.append, lambda: now_s[0])
    job = Job(
        id=JobId("job_1"),
        tenant=TenantId("acme"),
        recipe={"target": "asset:x", "output": "r.jpg", "sources": ["asset:y"]},
        webhook=receiver.url,
    )
    place.state.create(job)
    postman.expect(job.id, job.webhook)
    assert postman.work()  # It is looked at, and has not ended.
    assert receiver.got == []
    place.state.cancel(job.id)
    postman.hear(job.id)
    receiver.answers = [500, 200]
    assert postman.work()
    assert outcomes == ["again"]
    assert not postman.work()
    now_s[0] += WAITS_S[0] + 0.1
    assert postman.work()
    assert outcomes == ["again", "taken"]
    now_s[0] += 1e6
    assert not postman.work()
    secret = webhook_secret(b"installation", "acme")
    first, second = receiver.got
    assert first[1] != b""
    assert first[0]["Mien-Delivery"] == second[0]["Mien-Delivery"]
    assert verify(secret, second[1], second[0][SIGNATURE_HEADER], now_s[0] - 1e6)
    message = json.loads(second[1])
    assert (message["type"], message["job"]["id"], message["job"]["state"]) == ("job.cancelled", "job_1", "cancelled")


def test_a_deleted_job_is_not_waited_for(place: Place, receiver: Receiver) -> None:
    postman = Postman(place.state, b"installation", HERE, lambda _: None, place.state.now_s)
    postman.expect(JobId("job_gone"), receiver.url)
    assert postman.work()
    assert not postman.work()
    assert receiver.got == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "ftp://example.com/",
        "https://",
        "https://user:word@example.com/",
        "https://example.com:port/",
        "example.com",
        "https://[::1",
    ],
)
def test_what_is_no_webhook(url: str) -> None:
    with pytest.raises(Problem):
        parse_webhook(url, ())


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "https://[::1]/",
    ],
)
def test_nobody_inside_is_called(url: str) -> None:
    with pytest.raises(Problem, match="no public address"):
        resolve(url, ())


@pytest.mark.parametrize(
    ("link", "allowed"),
    [
        ("https://files.example/in/a.mp4", True),
        ("https://files.example/in/b/a.mp4?signature=x", True),
        ("s3://bucket/in/a.mp4", True),
        ("https://files.example/other/a.mp4", False),
        ("https://files.example/in/../other/a.mp4", False),
        ("https://files.example/in/%2e%2e/other/a.mp4", False),
        ("https://files.example.evil/in/a.mp4", False),
        ("https://files.example@evil/in/a.mp4", False),
        ("http://files.example/in/a.mp4", False),
        ("s3://bucket/index", False),
        ("https://[::1", False),
    ],
)
def test_links_are_read_from_allowed_places_only(link: str, allowed: bool) -> None:
    places = ("https://files.example/in", "s3://bucket/in/")
    if allowed:
        check_link(link, places)
    else:
        with pytest.raises(Problem):
            check_link(link, places)
