import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mien.errors import JobError, UnreadableError
from mien.service.folder import FolderStorage
from mien.service.records import JobId, TaskName, WorkerId
from mien.service.state import Grant
from mien.service.storage import Stored
from mien.service.workspace import Workspace, clear_folder


class FarStorage:
    """A storage that is no folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = FolderStorage(folder)
        self.reads: list[str] = []

    def put(self, path: Path, key: str) -> None:
        self._folder.put(path, key)

    def read(self, key: str, first: int = 0, size: int | None = None) -> Iterator[bytes]:
        self.reads.append(key)
        return self._folder.read(key, first, size)

    def delete(self, key: str) -> None:
        self._folder.delete(key)

    def list(self, prefix: str = "") -> Iterator[Stored]:
        return self._folder.list(prefix)


def grant(attempt: int = 1) -> Grant:
    return Grant(JobId("job"), TaskName("start"), attempt)


@pytest.fixture
def far(tmp_path: Path) -> FarStorage:
    storage = FarStorage(tmp_path / "far")
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode() * 1000)
        storage.put(tmp_path / name, f"assets/{name}")
    return storage


def test_tries_share_what_was_fetched_until_the_room_is_needed(far: FarStorage, tmp_path: Path) -> None:
    with Workspace(tmp_path / "scratch", WorkerId("w"), far, cache_bytes=1500) as space:
        with space.desk(grant()) as one, space.desk(grant(2)) as other:
            assert one.bring("assets/a", "given/x.png").read_bytes() == b"a" * 1000
            assert other.bring("assets/a", "y.png").read_bytes() == b"a" * 1000
            assert far.reads == ["assets/a"]
            other.bring("assets/b", "b.png")  # Goes with this try: the other one still uses `a`.
        with space.desk(grant(3)) as third:
            third.bring("assets/b", "b.png")
            third.bring("assets/a", "a.png")
        assert far.reads == ["assets/a", "assets/b", "assets/b"]
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_part_that_is_missing_is_nobodys_input(far: FarStorage, tmp_path: Path) -> None:
    with Workspace(tmp_path / "scratch", WorkerId("w"), far) as space, space.desk(grant()) as desk:
        with pytest.raises(UnreadableError):
            desk.bring("assets/none", "x")
        with pytest.raises(JobError, match="a part of the job is missing") as raised:
            desk.bring_part("assets/none", "y")
        assert not isinstance(raised.value, UnreadableError)


def test_what_a_try_stores_is_its_own(far: FarStorage, tmp_path: Path) -> None:
    with Workspace(tmp_path / "scratch", WorkerId("w"), far) as space:
        keys: list[str] = []
        for attempt in (1, 2):
            with space.desk(grant(attempt)) as desk:
                (desk.folder / "out.mp4").write_bytes(b"result")
                keys.append(desk.store(desk.folder / "out.mp4"))
                assert not keys[:-1] or keys[0] != keys[1]
        clear_folder(far, "jobs/job/", unless=lambda key: key == keys[1])
        assert [stored.key for stored in far.list("jobs/")] == [keys[1]]


def test_folders_of_workers_that_were_killed_go_and_those_of_others_stay(far: FarStorage, tmp_path: Path) -> None:
    root = tmp_path / "scratch"
    script = f"""
import os, sys
from pathlib import Path
from mien.service.folder import FolderStorage
from mien.service.workspace import Workspace
space = Workspace(Path({json.dumps(str(root))}), "killed", FolderStorage({json.dumps(str(tmp_path / "far"))}))
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    assert [path.name for path in root.iterdir()] == ["killed"]
    with Workspace(root, WorkerId("one"), far), Workspace(root, WorkerId("two"), far):
        assert sorted(path.name for path in root.iterdir()) == ["one", "two"]
