import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.errors import UnreadableError, UnwritableError, UsageError
from mien.service.folder import FolderStorage


@pytest.fixture
def storage(tmp_path: Path) -> FolderStorage:
    return FolderStorage(tmp_path / "storage")


def put(storage: FolderStorage, key: str, content: bytes) -> None:
    path = storage.root.parent / "upload"
    path.write_bytes(content)
    storage.put(path, key)


@given(st.binary(max_size=50), st.integers(0, 60), st.none() | st.integers(0, 60))
def test_a_range_is_that_of_the_content(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, first: int, size: int | None
) -> None:
    storage = FolderStorage(tmp_path_factory.mktemp("storage") / "in")
    put(storage, "a/b", content)
    expected = content[first:] if size is None else content[first : first + size]
    assert b"".join(storage.read("a/b", first, size)) == expected


def test_keys_are_listed_in_order_by_their_beginning(storage: FolderStorage) -> None:
    for key in ("jobs/b/1", "jobs/a/2", "jobs/a/1", "jobsless", "assets/x"):
        put(storage, key, b"x")
    assert [stored.key for stored in storage.list("jobs/")] == ["jobs/a/1", "jobs/a/2", "jobs/b/1"]
    assert [stored.key for stored in storage.list("jobs/a/")] == ["jobs/a/1", "jobs/a/2"]
    assert [stored.key for stored in storage.list("job")] == ["jobs/a/1", "jobs/a/2", "jobs/b/1", "jobsless"]
    assert list(storage.list("none/")) == []


def test_what_is_deleted_is_gone_with_its_folders(storage: FolderStorage) -> None:
    put(storage, "jobs/a/1", b"x")
    for _ in range(2):
        storage.delete("jobs/a/1")
    assert list(storage.root.iterdir()) == []
    with pytest.raises(UnreadableError, match="jobs/a/1"):
        b"".join(storage.read("jobs/a/1"))


@pytest.mark.parametrize("key", ["", "../x", "a/../../x", "/etc/passwd", "a//b", "a/./b", "a\0b", "a/.part-1"])
def test_a_key_never_leads_out_of_the_folder(storage: FolderStorage, key: str) -> None:
    with pytest.raises(UsageError, match="is no key"):
        storage.path(key)


def test_a_file_that_cannot_be_read_leaves_nothing(storage: FolderStorage, tmp_path: Path) -> None:
    with pytest.raises(UnwritableError):
        storage.put(tmp_path / "missing", "a/b")
    assert list(storage.list()) == []


def test_what_a_killed_process_was_writing_goes_when_it_is_old(storage: FolderStorage) -> None:
    old, new = storage.root / ".part-old", storage.root / ".part-new"
    for part in (old, new):
        part.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert list(FolderStorage(storage.root).list()) == []
    assert [path.name for path in storage.root.iterdir()] == [new.name]


def test_files_come_and_go_in_one_folder_at_the_same_time(storage: FolderStorage, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    errors: list[Exception] = []

    def work(name: str) -> None:
        try:
            for number in range(50):
                storage.put(tmp_path / "file", f"jobs/a/{name}{number}")
                storage.delete(f"jobs/a/{name}{number}")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
