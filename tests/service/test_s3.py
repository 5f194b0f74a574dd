"""Storage in S3, against a server that speaks its protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from mien.errors import UnreadableError, UnwritableError, UsageError
from mien.service.folder import FolderStorage
from mien.service.s3 import S3Storage, read_link
from mien.service.storage import Storage

LARGE = bytes(range(256)) * (36 << 12)  # 36 MB: three parts.


@pytest.fixture(params=["s3", "folder"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "folder":
        return FolderStorage(tmp_path / "storage")
    endpoint = request.getfixturevalue("endpoint")
    return S3Storage(f"s3://bucket/{tmp_path.name}/?endpoint={endpoint}")


def _put(storage: Storage, tmp_path: Path, key: str, content: bytes) -> None:
    (tmp_path / "given").write_bytes(content)
    storage.put(tmp_path / "given", key)


def test_what_was_put_is_read(storage: Storage, tmp_path: Path) -> None:
    _put(storage, tmp_path, "assets/a/one.jpg", LARGE)
    assert b"".join(storage.read("assets/a/one.jpg")) == LARGE
    assert b"".join(storage.read("assets/a/one.jpg", 100, 50)) == LARGE[100:150]
    assert b"".join(storage.read("assets/a/one.jpg", len(LARGE) - 5, 50)) == LARGE[-5:]
    assert b"".join(storage.read("assets/a/one.jpg", 7, 0)) == b""
    assert b"".join(storage.read("assets/a/one.jpg", len(LARGE), 5)) == b""
    _put(storage, tmp_path, "assets/a/one.jpg", b"")
    assert b"".join(storage.read("assets/a/one.jpg")) == b""


def test_files_are_listed_by_the_beginning_of_their_keys(storage: Storage, tmp_path: Path) -> None:
    for key in ("jobs/1/a", "jobs/1/b", "jobs/12/c", "assets/d"):
        _put(storage, tmp_path, key, key.encode())
    assert [(one.key, one.size_bytes) for one in storage.list("jobs/1/")] == [("jobs/1/a", 8), ("jobs/1/b", 8)]
    assert [one.key for one in storage.list("jobs/1")] == ["jobs/1/a", "jobs/1/b", "jobs/12/c"]
    assert len(list(storage.list())) == 4
    storage.delete("jobs/1/a")
    storage.delete("jobs/1/a")
    assert [one.key for one in storage.list("jobs/1/")] == ["jobs/1/b"]


def test_what_is_not_there_is_said(storage: Storage, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="nothing/here"):
        list(storage.read("nothing/here"))
    with pytest.raises(UnwritableError):
        storage.put(tmp_path / "missing", "key")


def test_a_link_is_read(endpoint: str, tmp_path: Path) -> None:
    storage = S3Storage(f"s3://bucket/links?endpoint={endpoint}")
    _put(storage, tmp_path, "a b.jpg", b"linked")
    assert b"".join(read_link("s3://bucket/links/a%20b.jpg")) == b"linked"
    with pytest.raises(UnreadableError):
        list(read_link("s3://bucket/links/other.jpg"))


@pytest.mark.parametrize("url", ["s3://", "s3:/bucket", "https://bucket/x"])
def test_what_is_no_storage(url: str) -> None:
    with pytest.raises(UsageError, match="s3://bucket/prefix"):
        S3Storage(url)


def test_nobody_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    assert endpoint
    monkeypatch.setattr("mien.service.s3._TRIES", 1)
    storage = S3Storage("s3://bucket/x?endpoint=http://127.0.0.1:1")
    with pytest.raises(UnwritableError):
        _put(storage, tmp_path, "key", b"x")
    with pytest.raises(UnreadableError):
        list(storage.read("key"))
