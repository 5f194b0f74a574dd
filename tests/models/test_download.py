"""Downloads from a real server that behaves in all the ways servers do."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path
from urllib.request import Request

import pytest

from mien.errors import ModelError, UnwritableError, UsageError
from mien.models import download as module
from mien.models.download import Patience, download
from mien.models.mirror import HttpSource, _Redirects, source_at
from support.mirror import serve

CONTENT = os.urandom(3_500_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
AT_ONCE = Patience(attempts=3, pause_s=0)


@pytest.fixture
def mirror(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serve({"/net.onnx": CONTENT, "/models/net.onnx": CONTENT}) as mirror:
        yield mirror


@pytest.fixture
def target(tmp_path):
    return tmp_path / "models" / "net.onnx"


def fetch(mirror, target, *, sha256=SHA256, **options):
    download(source_at(mirror.url, "net.onnx"), target, sha256=sha256, patience=AT_ONCE, **options)


def visible(target: Path) -> list[str]:
    """Files in the folder, without the locks."""
    return sorted(path.name for path in target.parent.iterdir() if path.name != ".locks")


def test_a_file_arrives_whole_and_alone(mirror, target):
    heard = []
    fetch(mirror, target, size=len(CONTENT), on_bytes=lambda done, total: heard.append((done, total)))
    assert target.read_bytes() == CONTENT
    assert visible(target) == ["net.onnx"]
    assert heard[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in heard] == sorted({done for done, _ in heard})


def test_what_is_there_is_not_fetched_again(mirror, target):
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    fetch(mirror, target)
    assert mirror.requests == []


def test_a_damaged_file_is_replaced(mirror, target):
    target.parent.mkdir()
    target.write_bytes(CONTENT[:-1])
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT


def test_a_transfer_that_breaks_off_goes_on_where_it_was(mirror, target):
    mirror.cuts = [1_000_000, 2_000_000]
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT
    assert mirror.asked_ranges == [None, "bytes=1000000-", "bytes=3000000-"]


def test_the_next_call_goes_on_too(mirror, target):
    mirror.cuts = [1_000_000, 0, 0, 0]
    with pytest.raises(
        ModelError, match="ended after 1000000 of 3500000 bytes; 1000000 bytes have arrived and are kept"
    ):
        fetch(mirror, target)
    assert not target.exists()
    mirror.cuts, mirror.requests = [], []
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT
    assert mirror.asked_ranges == ["bytes=1000000-"]
    assert visible(target) == ["net.onnx"]


def test_a_part_that_is_whole_needs_no_server(mirror, target):
    target.parent.mkdir()
    target.with_name(f".net.onnx.{SHA256[:12]}.part").write_bytes(CONTENT)
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT
    assert mirror.requests == []


def test_a_part_that_is_too_long_is_begun_anew(mirror, target):
    target.parent.mkdir()
    target.with_name(f".net.onnx.{SHA256[:12]}.part").write_bytes(CONTENT + b"more")
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT
    assert mirror.asked_ranges == [f"bytes={len(CONTENT) + 4}-", None]


def test_a_server_without_ranges_starts_anew(mirror, target):
    mirror.ranges = False
    mirror.cuts = [1_000_000]
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT
    assert mirror.asked_ranges == [None, "bytes=1000000-"]


def test_a_server_that_tells_no_length_is_checked_by_the_sum(mirror, target):
    mirror.told_length = False
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT


def test_the_wrong_content_is_refused_and_nothing_is_left(mirror, target):
    mirror.files["/net.onnx"] = CONTENT[:-1] + b"x"
    with pytest.raises(ModelError, match=f"SHA-256 is [0-9a-f]{{64}}, not {SHA256}; nothing is kept"):
        fetch(mirror, target)
    assert visible(target) == []


def test_a_file_of_another_length_is_refused_before_it_is_fetched(mirror, target):
    with pytest.raises(ModelError, match="has 3500000 bytes, not 12"):
        fetch(mirror, target, size=12)
    assert visible(target) == []


def test_a_flood_is_stopped_at_the_known_size(mirror, target):
    mirror.told_length = False
    mirror.extra = os.urandom(4_000_000)
    with pytest.raises(ModelError, match="sends more than the 3500000 bytes"):
        fetch(mirror, target, size=len(CONTENT))
    assert visible(target) == []


def test_a_busy_server_is_asked_again(mirror, target):
    mirror.statuses = [503, 429]
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT


def test_a_server_that_stays_busy_is_given_up(mirror, target):
    mirror.statuses = [503, 503, 503, 503]
    with pytest.raises(ModelError, match="answers 503"):
        fetch(mirror, target)
    assert len(mirror.requests) == AT_ONCE.attempts
    assert visible(target) == []


def test_a_file_that_is_not_there_is_asked_for_once(mirror, target):
    with pytest.raises(ModelError, match="answers 404 Not Found: is it the right mirror"):
        download(source_at(mirror.url, "gone.onnx"), target, sha256=SHA256, patience=AT_ONCE)
    assert len(mirror.requests) == 1


def test_nobody_there(target, mirror):
    address = mirror.url.rpartition(":")[0] + ":1"
    with pytest.raises(ModelError, match="cannot be reached"):
        download(source_at(address, "net.onnx"), target, sha256=SHA256, patience=AT_ONCE)


def test_a_silent_server_is_given_up(mirror, target):
    mirror.delay = threading.Event()
    source = HttpSource(f"{mirror.url}/net.onnx", timeout_s=0.05)
    with pytest.raises(ModelError, match="broke off: timed out"):
        download(source, target, sha256=SHA256, patience=AT_ONCE)
    mirror.delay.set()


def test_a_redirect_is_followed_with_the_place_to_go_on(mirror, target):
    mirror.redirects["/net.onnx"] = "/models/net.onnx"
    mirror.cuts = [1_000_000]
    fetch(mirror, target)
    assert target.read_bytes() == CONTENT
    assert ("/models/net.onnx", "bytes=1000000-") in [(path, sent.get("Range")) for path, sent in mirror.requests]


def test_redirects_in_circles_end(mirror, target):
    mirror.redirects = {"/net.onnx": "/b", "/b": "/net.onnx"}
    with pytest.raises(ModelError, match="redirects in circles"):
        fetch(mirror, target)


@pytest.mark.parametrize("elsewhere", ["ftp://127.0.0.1/net.onnx", "file:///etc/passwd"])
def test_a_redirect_to_another_scheme_is_not_followed(mirror, target, elsewhere):
    mirror.redirects["/net.onnx"] = elsewhere
    with pytest.raises(ModelError, match="redirect"):
        fetch(mirror, target)


def test_a_redirect_that_gives_up_encryption_is_not_followed():
    asked = Request("https://example.org/net.onnx")
    with pytest.raises(ModelError, match=r"redirects to http://example\.com/net\.onnx, which is not followed"):
        _Redirects().redirect_request(asked, None, 302, "Found", {}, "http://me:secret@example.com/net.onnx")


def test_a_password_goes_to_the_server_and_into_no_message(mirror, target):
    named = mirror.url.replace("http://", "http://ann:s%40cret@")
    with pytest.raises(ModelError) as refusal:
        download(source_at(named, "gone.onnx"), target, sha256=SHA256, patience=AT_ONCE)
    assert mirror.requests[0][1]["Authorization"] == "Basic YW5uOnNAY3JldA=="
    assert "cret" not in str(refusal.value)


@pytest.mark.parametrize("as_url", [True, False])
def test_a_folder_is_a_mirror_too(tmp_path, target, as_url):
    (tmp_path / "my mirror").mkdir()
    (tmp_path / "my mirror" / "net.onnx").write_bytes(CONTENT)
    target.parent.mkdir()
    target.with_name(f".net.onnx.{SHA256[:12]}.part").write_bytes(CONTENT[:1000])
    folder = tmp_path / "my mirror"
    source = source_at(folder.as_uri() if as_url else str(folder), "net.onnx")
    assert not source.remote
    download(source, target, sha256=SHA256)
    assert target.read_bytes() == CONTENT


def test_a_file_missing_in_a_folder_is_told(tmp_path, target):
    with pytest.raises(ModelError, match=r"net\.onnx cannot be read \(No such file"):
        download(source_at(str(tmp_path), "net.onnx"), target, sha256=SHA256)


@pytest.mark.parametrize("mirror", ["ftp://host/x", "nowhere/at/all", "https:///x", "file://host/x"])
def test_what_is_no_mirror_is_wrong_use(mirror):
    with pytest.raises(UsageError, match="is no mirror"):
        source_at(mirror, "net.onnx")


def test_too_little_space_is_seen_before_anything_is_fetched(mirror, target, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**9, 10**9 - 10, 10))
    with pytest.raises(UnwritableError, match="has 10 bytes free and 3500000 are needed"):
        fetch(mirror, target)
    assert visible(target) == []


@pytest.fixture
def small_disk():
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("small_disk")
def test_a_disk_that_takes_no_more_is_told_and_what_arrived_is_kept(mirror, target):
    with pytest.raises(UnwritableError, match=r"\.part cannot be written: File too large"):
        fetch(mirror, target)
    assert not target.exists()
    (part,) = target.parent.glob("*.part")
    assert CONTENT.startswith(part.read_bytes())


def test_a_folder_that_cannot_be_written_is_told(mirror, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnwritableError, match="cannot be written"):
        fetch(mirror, tmp_path / "file" / "net.onnx")


def test_two_who_want_the_same_file_fetch_it_once(mirror, target):
    mirror.delay = threading.Event()
    faults = []

    def fetch_it():
        try:
            fetch(mirror, target)
        except ModelError as error:
            faults.append(error)

    threads = [threading.Thread(target=fetch_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    mirror.delay.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert target.read_bytes() == CONTENT
    assert len(mirror.requests) == 1
    assert visible(target) == ["net.onnx"]


def test_two_processes_that_want_the_same_file_fetch_it_once(mirror, target):
    mirror.delay = threading.Event()
    code = (
        "import pathlib, sys; from mien.models.download import download; from mien.models.mirror import source_at\n"
        "download(source_at(sys.argv[1], 'net.onnx'), pathlib.Path(sys.argv[2]), sha256=sys.argv[3])"
    )
    command = [sys.executable, "-c", code, mirror.url, str(target), SHA256]
    processes = [subprocess.Popen(command) for _ in range(2)]
    mirror.delay.set()
    assert [process.wait() for process in processes] == [0, 0]
    assert target.read_bytes() == CONTENT
    assert len(mirror.requests) == 1


def test_what_arrived_before_an_interruption_is_kept(mirror, target):
    def interrupt(done, _total):
        if done > 2_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(mirror, target, on_bytes=interrupt)
    (part,) = target.parent.glob(".*.part")
    arrived = part.stat().st_size
    assert arrived > 2_000_000
    fetch(mirror, target)
    assert mirror.asked_ranges == [None, f"bytes={arrived}-"]
    assert target.read_bytes() == CONTENT


def test_the_pauses_grow(mirror, target, monkeypatch):
    slept = []
    monkeypatch.setattr(module.time, "sleep", slept.append)
    mirror.statuses = [503] * 4
    with pytest.raises(ModelError):
        download(source_at(mirror.url, "net.onnx"), target, sha256=SHA256, patience=Patience(attempts=4, pause_s=1))
    assert slept == [1, 2, 4]
