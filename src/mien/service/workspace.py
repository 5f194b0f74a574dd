"""The worker's own disk: files of storage that tries share, and a folder for each try that goes when it ends."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from mien.errors import JobError, UnreadableError, UnwritableError
from mien.media.glance import first_picture
from mien.models.lock import try_lock
from mien.service.folder import FolderStorage
from mien.service.previews import preview_key
from mien.service.records import WorkerId
from mien.service.state import Grant
from mien.service.storage import Storage

_LOCK = "lock"
_PREVIEW_PIXELS = 480
"""Longer side."""


class Workspace:
    """A worker's folder. Safe to use from several threads; a context manager."""

    def __init__(self, root: Path, worker: WorkerId, storage: Storage, *, cache_bytes: int = 20_000_000_000) -> None:
        """Make it, and take away those of workers that were killed.

        Args:
            root: where workers of this machine have their folders.
            worker: whose it is.
            storage: where files come from and go to.
            cache_bytes: the most that files of storage may take while no try uses them.

        Raises:
            UnwritableError: it cannot be made.
        """
        self.storage = storage
        self.folder = root / worker
        self._cache_bytes = cache_bytes
        self._fetching = threading.Lock()
        self._users: dict[Path, int] = {}
        self._lock = threading.Lock()
        try:
            (self.folder / "files").mkdir(parents=True)
            self._held = (self.folder / _LOCK).open("ab")
            try_lock(self._held)
            _clear_abandoned(root, self.folder)
        except OSError as error:
            raise UnwritableError(f"the worker's folder {self.folder} cannot be made: {error.strerror}") from error

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._held.close()

    @contextmanager
    def desk(self, grant: Grant) -> Generator[Desk]:
        """A folder for one try.

        Raises:
            UnwritableError: it cannot be made.
        """
        folder = self.folder / f"{grant.job}-{grant.attempt}"
        try:
            folder.mkdir()
        except OSError as error:
            raise UnwritableError(f"the worker's folder {folder} cannot be made: {error.strerror}") from error
        desk = Desk(self, grant, folder)
        try:
            yield desk
        finally:
            desk.leave()
            shutil.rmtree(folder, ignore_errors=True)
            self._shrink()

    def borrow(self, key: str) -> Path:
        """A file of storage, to be read only; it stays until it is given back with `give_back`.

        Raises:
            UnreadableError: it is not there.
            UnwritableError: no space for it.
        """
        if isinstance(self.storage, FolderStorage):
            path = self.storage.path(key)
            if not path.exists():
                raise UnreadableError(f"{key} is no longer in storage")
            return path
        path = self.folder / "files" / hashlib.sha256(key.encode()).hexdigest()
        with self._lock:
            self._users[path] = self._users.get(path, 0) + 1
        with self._fetching:  # One after the other: several tries want the same file at the same time.
            if not path.exists():
                _write(self.storage.read(key), path)
        # When it was used last; the time of change is the same on every worker, as some of what is made depends on it.
        os.utime(path, (time.time(), 0))
        return path

    def give_back(self, path: Path) -> None:
        """A borrowed file is no longer used."""
        with self._lock:
            if path in self._users:
                self._users[path] -= 1

    def _shrink(self) -> None:
        with self._lock:
            files = sorted((self.folder / "files").iterdir(), key=lambda path: path.stat().st_atime)
            held = sum(path.stat().st_size for path in files)
            for path in files:
                if held > self._cache_bytes and not self._users.get(path):
                    held -= path.stat().st_size
                    path.unlink()
                    self._users.pop(path, None)


class Desk:
    """One try's folder, and its way to storage."""

    def __init__(self, space: Workspace, grant: Grant, folder: Path) -> None:
        self._space = space
        self._grant = grant
        self._borrowed: list[Path] = []
        self.folder = folder

    def bring(self, key: str, name: str) -> Path:
        """A file of storage under a name in this folder, to be read only.

        Raises:
            UnreadableError, UnwritableError: see `Workspace.borrow`.
        """
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self._borrowed.append(source := self._space.borrow(key))
        path.symlink_to(source)
        return path

    def bring_part(self, key: str, name: str) -> Path:
        """As `bring`, for what another try of this job made: that it is not there is nobody's input at fault.

        Raises:
            JobError: it is not there.
            UnwritableError: no space for it.
        """
        try:
            return self.bring(key, name)
        except UnreadableError as error:
            raise JobError(f"a part of the job is missing: {error}") from error

    def store(self, path: Path) -> str:
        """Put a file into storage under a key that no other try has. Gives the key.

        Raises:
            UnwritableError: no space, no connection.
        """
        key = f"{self._grant.folder}{path.name}"
        self._space.storage.put(path, key)
        return key

    def made(self, path: Path) -> bool:
        """Whether a file of this folder was made here, rather than brought."""
        return not path.is_symlink()

    def show(self, packets: Path) -> None:
        """Let those who wait for the job see how a finished segment begins.

        Raises:
            UnwritableError: no space, no connection.
        """
        path = self.folder / "preview.jpg"
        picture = first_picture(packets).convert("RGB")
        picture.thumbnail((_PREVIEW_PIXELS, _PREVIEW_PIXELS))
        picture.save(path)
        self._space.storage.put(path, preview_key(self._grant.job))

    def leave(self) -> None:
        """Give back what was borrowed."""
        for path in self._borrowed:
            self._space.give_back(path)


def clear_folder(storage: Storage, folder: str, unless: Callable[[str], bool] = lambda _key: False) -> None:
    """Delete all of a folder in storage but the keys for which `unless` holds.

    Raises:
        UnreadableError, UnwritableError: no permission, no connection.
    """
    for stored in list(storage.list(folder)):
        if not unless(stored.key):
            storage.delete(stored.key)


def _write(pieces: Iterator[bytes], path: Path) -> None:
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            for piece in pieces:
                file.write(piece)
        part.replace(path)
    except OSError as error:
        raise UnwritableError(f"no room for a file of storage in {path.parent}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _clear_abandoned(root: Path, own: Path) -> None:
    """Remove the folders of workers that are gone: nobody holds their locks."""
    for lock in root.glob(f"*/{_LOCK}"):
        if lock.parent != own:
            with lock.open("ab") as file:
                if try_lock(file):
                    shutil.rmtree(lock.parent, ignore_errors=True)
