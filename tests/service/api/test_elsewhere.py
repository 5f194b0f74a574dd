"""Files that lie elsewhere: storage in S3, links that recipes name; and those who are told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue

import boto3
import pytest

from mien.service.inspection.process import Inspector
from mien.service.problems import TYPE_PREFIX
from mien.service.records import JobId
from mien.service.s3 import S3Storage
from mien.service.signing import SIGNATURE_HEADER, verify, webhook_secret
from mien.service.valkey import EmbeddedValkey
from support.api import PORTRAIT, STREET, Api, served


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a web server with a picture, and one that leads away."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "in").mkdir()
    (folder / "in" / "street.jpg").write_bytes(STREET.read_bytes())
    (folder / "secret.jpg").write_bytes(STREET.read_bytes())

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/in/away":
                self.send_response(302)
                self.send_header("Location", "/secret.jpg")
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def elsewhere(
    tmp_path_factory: pytest.TempPathFactory, inspector: Inspector, endpoint: str, files: str
) -> Iterator[Api]:
    """An API whose storage is a bucket, and which reads links."""
    folder = tmp_path_factory.mktemp("elsewhere")
    storage = S3Storage(f"s3://bucket/mien?endpoint={endpoint}")
    allowed = (f"{files}/in/", "s3://bucket/given/")
    with (
        EmbeddedValkey(folder / "queue") as queue,
        served(folder, queue.url, inspector, storage, allowed_links=allowed) as api,
    ):
        yield api


def test_a_job_from_upload_to_deletion_in_a_bucket(elsewhere: Api, endpoint: str) -> None:
    bucket = boto3.client("s3", endpoint_url=endpoint)

    def kept() -> int:
        return bucket.list_objects_v2(Bucket="bucket", Prefix="mien/")["KeyCount"]

    caller = elsewhere.caller()
    job = caller.job()["id"]
    assert kept() == 2
    elsewhere.finish(job, b"0123456789")
    response = caller.http.get(f"/v1/jobs/{job}/result", headers={"Range": "bytes=2-4"})
    assert (response.status_code, response.content) == (206, b"234")
    caller.http.delete(f"/v1/jobs/{job}")
    for asset in caller.made.values():
        assert caller.http.delete(f"/v1/assets/{asset}").status_code == 204
    assert kept() == 0
    assert list(elsewhere.front.library.folder.iterdir()) == []


def test_files_behind_links_become_assets(elsewhere: Api, files: str, endpoint: str) -> None:
    boto3.client("s3", endpoint_url=endpoint).put_object(
        Bucket="bucket", Key="given/me.png", Body=PORTRAIT.read_bytes()
    )
    caller = elsewhere.caller()
    recipe = {"target": f"{files}/in/street.jpg", "sources": ["s3://bucket/given/me.png"]}
    response = caller.http.post("/v1/jobs", json={"recipe": recipe})
    assert response.status_code == 201, response.text
    names = [one["name"] for one in caller.http.get("/v1/assets").json()["assets"]]
    assert sorted(names) == ["me.png", "street.jpg"]
    assert response.json()["recipe"]["target"].startswith("asset:asset_")


@pytest.mark.parametrize(
    ("link", "status", "kind"),
    [
        ("{files}/secret.jpg", 403, "policy_refused"),
        ("{files}/in/../secret.jpg", 403, "policy_refused"),
        ("{files}/in/away", 422, "unreadable_media"),
        ("{files}/in/nothing.jpg", 422, "unreadable_media"),
        ("s3://bucket/given/nothing.jpg", 422, "unreadable_media"),
        ("s3://other/given/nothing.jpg", 403, "policy_refused"),
        ("http://169.254.169.254/latest/meta-data", 403, "policy_refused"),
    ],
)
def test_links_elsewhere_are_not_followed(elsewhere: Api, files: str, link: str, status: int, kind: str) -> None:
    caller = elsewhere.caller()
    source = caller.upload(PORTRAIT)["id"]
    recipe = {"target": link.format(files=files), "sources": [source]}
    response = caller.http.post("/v1/jobs", json={"recipe": recipe})
    assert (response.status_code, response.json()["type"]) == (status, f"{TYPE_PREFIX}{kind}")


def test_a_webhook_is_called_when_the_job_ends(api: Api) -> None:
    calls: Queue[tuple[dict[str, str], bytes]] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            calls.put((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    caller = api.caller()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        job = caller.job(webhook=f"http://127.0.0.1:{server.server_port}/")["id"]
        api.finish(job, b"picture")
        headers, body = calls.get(timeout=60)
        server.shutdown()
        thread.join()
    assert json.loads(body)["job"]["id"] == job
    secret = webhook_secret(api.front.secret, caller.key.tenant)
    assert verify(secret, body, headers[SIGNATURE_HEADER], api.front.clock())


@pytest.mark.parametrize("url", ["https://127.0.0.2/", "https://localhost/x", "http://example.com/", "not an address"])
def test_a_webhook_to_somebody_inside_is_refused(api: Api, url: str) -> None:
    caller = api.caller()
    response = caller.http.post("/v1/jobs", json={**caller.picture_recipe(), "webhook": url})
    assert (response.status_code, response.json()["field"]) == (422, "webhook")


def test_the_preview_is_the_last_that_was_put_there(api: Api, tmp_path: Path) -> None:
    from mien.service.previews import preview_key

    caller = api.caller()
    job = caller.job()["id"]
    assert caller.http.get(f"/v1/jobs/{job}/preview").status_code == 404
    (tmp_path / "frame.jpg").write_bytes(b"a frame")
    api.front.storage.put(tmp_path / "frame.jpg", preview_key(JobId(job)))
    response = caller.http.get(f"/v1/jobs/{job}/preview")
    assert (response.status_code, response.content, response.headers["content-type"]) == (200, b"a frame", "image/jpeg")


def test_storage_that_fails_is_told_without_its_paths(api: Api) -> None:
    caller = api.caller()
    job = caller.job()["id"]
    api.finish(job, b"picture")
    found = api.front.state.job(JobId(job))
    assert found is not None
    assert found.result is not None
    api.front.storage.delete(found.result.key)
    folder = api.front.storage.root / "assets" / caller.key.tenant
    folder.rename(folder.with_name("away"))
    folder.write_bytes(b"in the way")
    uploaded = caller.http.post("/v1/assets", content=PORTRAIT.read_bytes())
    downloaded = caller.http.get(f"/v1/jobs/{job}/result")
    # What cannot be deleted now is left for later.
    assert api.front.settings.asset_kept_s is not None
    api.front.cleaner.clean(api.front.clock() + api.front.settings.asset_kept_s + 60)
    folder.unlink()
    folder.with_name("away").rename(folder)
    for response in (downloaded, uploaded):
        assert (response.status_code, response.json()["type"]) == (503, f"{TYPE_PREFIX}unavailable")
        assert response.headers["retry-after"]
        assert str(api.front.storage.root) not in response.text
    assert len(caller.http.get("/v1/assets").json()["assets"]) == 2
    assert api.front.usage.stored_bytes(caller.key.id) == PORTRAIT.stat().st_size + STREET.stat().st_size


def test_a_queue_that_is_restarted_is_waited_for(tmp_path: Path, inspector: Inspector) -> None:
    with EmbeddedValkey(tmp_path / "q") as queue, served(tmp_path, queue.url, inspector) as one:
        caller = one.caller()
        asset = caller.upload(STREET)["id"]
        queue.restart()
        assert caller.http.get(f"/v1/assets/{asset}").json()["id"] == asset


def test_the_policy_of_the_installation_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mien.policy.toml").write_text('consent = "required"\nmarks = "all"\n')
    monkeypatch.setenv("MIEN_POLICY", str(tmp_path / "mien.policy.toml"))
    with (
        Inspector() as strict,
        EmbeddedValkey(tmp_path / "q") as queue,
        served(tmp_path, queue.url, strict) as api,
    ):
        caller = api.caller()
        for more, word in (({}, "consent"), ({"marks": "none"}, "marks")):
            recipe = {**caller.picture_recipe()["recipe"], **more}
            response = caller.http.post("/v1/jobs", json={"recipe": recipe})
            assert (response.status_code, response.json()["type"]) == (403, f"{TYPE_PREFIX}policy_refused")
            assert word in response.json()["detail"]
            assert str(tmp_path) not in response.text
