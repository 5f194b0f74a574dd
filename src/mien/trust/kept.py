"""Embeddings of source and reference pictures that are kept to save time: encrypted, for a time, and only if the policy
says so."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from mien.errors import UnwritableError, VaultError
from mien.media.files import writing
from mien.trust.people import Embedding
from mien.trust.vault import SEALED, Vault, make_private_folder, open_vault, write_private

_TIME = struct.Struct("<d")


class KeptEmbeddings:
    """A folder of sealed embeddings. Safe to use from several threads and processes."""

    def __init__(self, folder: Path, retention_days: int) -> None:
        """Args:
        folder: The installation's trust folder.
        retention_days: How long an embedding is kept.

        Raises:
            VaultError: the key is damaged.
            UnwritableError: nothing can be kept there.
        """
        self._vault: Vault = open_vault(folder)
        self._folder = _folder_of(folder)
        self._retention = timedelta(days=retention_days)
        make_private_folder(self._folder)
        self._expire()

    def get(self, key: str) -> Embedding | None:
        """(128,) what was kept under `key`, unless it is too old."""
        path = self._path(key)
        try:
            content = self._vault.unseal(key, path.read_bytes())
        except (OSError, VaultError):
            return None  # It is computed again.
        (kept_s,) = _TIME.unpack_from(content)
        if self._is_old(kept_s):
            path.unlink(missing_ok=True)
            return None
        return np.frombuffer(content, "<f4", offset=_TIME.size).astype(np.float32)

    def put(self, key: str, embedding: Embedding) -> None:
        """Keep (128,) under `key`. A folder that takes no more costs time, not the job."""
        content = _TIME.pack(datetime.now(UTC).timestamp()) + np.ascontiguousarray(embedding, "<f4").tobytes()
        try:
            write_private(self._path(key), self._vault.seal(key, content))
        except UnwritableError:
            return

    def _expire(self) -> None:
        for path in self._folder.glob(f"*{SEALED}"):
            # The time inside, which counts, is never later than the file's.
            if self._is_old(path.stat().st_mtime):
                path.unlink(missing_ok=True)

    def _is_old(self, time_s: float) -> bool:
        return datetime.now(UTC) - datetime.fromtimestamp(time_s, UTC) >= self._retention

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{SEALED}"


def delete_all(folder: Path) -> int:
    """Delete every embedding kept in a trust folder; gives their number.

    Raises:
        UnwritableError: one cannot be deleted.
    """
    paths = list(_folder_of(folder).glob(f"*{SEALED}"))
    for path in paths:
        with writing(path):
            path.unlink(missing_ok=True)
    return len(paths)


def _folder_of(folder: Path) -> Path:
    return folder / "embeddings"
