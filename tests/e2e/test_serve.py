"""`mien serve` as users have it: one command, a key, and jobs by the command line and by plain HTTP."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from mien.client import Client
from mien.errors import NoFaceError
from support.people import STILLS

SOURCE, TARGET = STILLS / "astronaut.png", STILLS / "grace_hopper.jpg"
MIEN = [sys.executable, "-m", "mien"]


@dataclass
class Served:
    """A service that runs."""

    url: str
    data: Path
    process: subprocess.Popen[str]
    key: str = ""

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "MIEN_SERVICE": self.url, "MIEN_KEY": self.key}
        return subprocess.run([*MIEN, *arguments], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    command = [*MIEN, "serve", "--data", str(folder / "data"), "--port", "0", "--slots", "1"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None, (folder / "log").read_text()
        served = Served(found[0], folder / "data", process)
        assert "mien keys add" in process.stdout.readline()
        made = served.run("keys", "add", "acme", "--data", str(served.data))
        assert made.returncode == 0, made.stderr
        served.key = made.stdout.split()[1]
        yield served
    finally:
        # Asked, not killed: its queue and its worker are to end with it.
        process.terminate()
        process.wait(60)
        process.stdout.close()


def test_remote_swap_gives_the_picture_of_the_local_command(served: Served, tmp_path: Path) -> None:
    names = [str(SOURCE), str(TARGET), "--faces", "largest", "--shape", "0.5"]
    there = served.run("remote", "swap", *names, "-o", str(tmp_path / "there.jpg"), "--json", "-")
    assert there.returncode == 0, there.stderr
    here = served.run("swap", *names, "-o", str(tmp_path / "here.jpg"), "--quiet")
    assert here.returncode == 0, here.stderr
    with Image.open(tmp_path / "there.jpg") as one, Image.open(tmp_path / "here.jpg") as other:
        assert (np.asarray(one) == np.asarray(other)).all()
    assert str(tmp_path / "there.jpg") in there.stdout
    # Nothing stays behind.
    assert not [path for path in (served.data / "storage").rglob("*") if path.is_file()]
    again = served.run("remote", "swap", *names, "-o", str(tmp_path / "there.jpg"))
    assert again.returncode == 1
    assert "--overwrite" in again.stderr


def test_what_cannot_be_done_is_told_as_by_the_local_command(served: Served, tmp_path: Path) -> None:
    Image.new("RGB", (64, 64), "grey").save(tmp_path / "grey.png")
    output = ["-o", str(tmp_path / "out.jpg")]
    for command in (["swap"], ["remote", "swap"]):
        done = served.run(*command, str(tmp_path / "grey.png"), str(TARGET), *output)
        assert (done.returncode, "grey.png" in done.stderr, "no face" in done.stderr) == (1, True, True), done.stderr
        done = served.run(*command, str(SOURCE), str(TARGET), *output, "--effects", "sparkle")
        assert (done.returncode, "sparkle" in done.stderr) == (2, True), done.stderr
    done = served.run("remote", "swap", str(SOURCE), str(TARGET), *output, "--device", "cpu")
    assert (done.returncode, "--device" in done.stderr) == (2, True)
    with Client(served.url, served.key) as client, pytest.raises(NoFaceError):
        client.swap(tmp_path / "grey.png", TARGET, tmp_path / "out.jpg")


def test_upload_job_events_and_result_by_plain_http(served: Served) -> None:
    with httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {served.key}"}, timeout=120) as http:
        source, target = (http.post("/v1/assets", content=path.read_bytes()).json()["id"] for path in (SOURCE, TARGET))
        job = http.post("/v1/jobs", json={"recipe": {"sources": [source], "target": target}}).json()["id"]
        with http.stream("GET", f"/v1/jobs/{job}/events") as events:
            states = re.findall(r'"state": "(\w+)"', events.read().decode())
        assert (states[0], states[-1]) == ("queued", "done")
        told = http.get(f"/v1/jobs/{job}").json()
        assert told["result"]["report"]["faces"] == 1
        picture = http.get(f"/v1/jobs/{job}/result")
        assert picture.headers["content-type"] == "image/jpeg"
        assert len(picture.content) == told["result"]["size_bytes"]
        for path in (f"/v1/jobs/{job}", f"/v1/assets/{source}", f"/v1/assets/{target}"):
            assert http.delete(path).status_code == 204


def test_keys_are_listed_and_revoked(served: Served) -> None:
    place = ["--data", str(served.data)]
    made = served.run("keys", "add", "other", "--name", "for a day", "--days", "1", *place).stdout.split()[1]
    listed = served.run("keys", "list", *place).stdout
    assert "for a day" in listed
    assert made.split("_")[2] not in listed
    with Client(served.url, made) as client:
        assert client.jobs() == []
    assert served.run("keys", "revoke", made.split("_")[1], *place).returncode == 0
    assert httpx.get(f"{served.url}/v1/jobs", headers={"Authorization": f"Bearer {made}"}).status_code == 401
    audit = served.run("keys", "audit", "--key", made.split("_")[1], *place)
    assert audit.returncode == 0, audit.stderr
    assert [line.split()[1] for line in audit.stdout.splitlines()[:-1]] == ["key.added", "key.revoked"]
    unknown = served.run("keys", "revoke", "nobody", *place)
    assert (unknown.returncode, "mien keys list" in unknown.stderr) == (2, True)


def test_a_folder_serves_one_at_a_time(served: Served) -> None:
    second = served.run("serve", "--data", str(served.data), "--port", "0")
    assert (second.returncode, "another `mien serve`" in second.stderr) == (2, True), second.stderr
    port = served.url.rpartition(":")[2]
    other = served.run("serve", "--data", str(served.data) + "2", "--port", port, "--no-worker")
    assert (other.returncode, "--port" in other.stderr) == (2, True), other.stderr
    assert httpx.get(f"{served.url}/healthz").status_code == 200


def test_sigterm_ends_all_of_it_and_nothing_is_lost(served: Served) -> None:
    with Client(served.url, served.key) as client:
        kept = client.upload(SOURCE).id
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(60) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{served.url}/healthz")
    # The queue's server is gone with it; the command starts one to look.
    assert "acme" in served.run("keys", "list", "--data", str(served.data)).stdout
    command = [*MIEN, "serve", "--data", str(served.data), "--port", "0", "--no-worker"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        with Client(found[0], served.key) as client:
            assert client.asset(kept).name == SOURCE.name
        process.terminate()
        assert process.wait(60) == 0
