"""The store of consents and barred faces: a folder of sealed records and a log of what was done to them.

<trust folder>/
    key                    of the installation
    records/<id>.sealed    one record each, encrypted as a whole
    audit.log              who was added, revoked, forgotten, and which jobs were let through or refused, by ids
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mien.errors import UsageError, VaultError
from mien.media.files import writing
from mien.trust.audit import AuditLog
from mien.trust.people import Embedding
from mien.trust.records import FaceRecord, Kind
from mien.trust.vault import SEALED, Vault, make_private_folder, open_vault, write_private


class ConsentStore:
    """The records of one installation. Several threads and processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        """Args:
        folder: The installation's trust folder; nothing in it is made before the first record.
        """
        self.folder = folder
        self.audit = AuditLog(folder / "audit.log")
        self._records = folder / "records"

    @functools.cached_property
    def _vault(self) -> Vault:
        return open_vault(self.folder)

    def add(self, record: FaceRecord) -> None:
        """Keep a record.

        Raises:
            VaultError: key or log cannot be used.
            UnwritableError: no space, no permission.
        """
        self._write(record)
        self.audit.append(f"{record.kind}.added", record=record.id, digests=list(record.digests))

    def get(self, id: str) -> FaceRecord:
        """A record.

        Raises:
            UsageError: there is none of that id.
            VaultError: it is damaged, or the key cannot be used.
        """
        path = self._path(id)
        if not path.is_file():
            raise UsageError(f"there is no record '{id}' in {self.folder}: `mien consent list` shows those there are")
        return self._read(path)

    def all(self, kind: Kind | None = None) -> list[FaceRecord]:
        """The records, in the order they were added.

        Raises:
            VaultError: one is damaged, or the key cannot be used.
        """
        try:
            paths = sorted(self._records.glob(f"{kind or '*'}-*{SEALED}"))
        except OSError as error:
            raise VaultError(f"the records in {self._records} cannot be read: {error.strerror or error}") from error
        return sorted((self._read(path) for path in paths), key=lambda record: record.added_at)

    def revoke(self, id: str) -> FaceRecord:
        """End a consent, or lift a bar, from now on. What was revoked before stays as it was.

        Raises:
            UsageError: there is none of that id.
            VaultError, UnwritableError: see `add`.
        """
        record = self.get(id)
        if record.revoked_at is not None:
            return record
        record = replace(record, revoked_at=datetime.now(UTC).replace(microsecond=0))
        self._write(record)
        self.audit.append(f"{record.kind}.revoked", record=id)
        return record

    def forget(self, id: str) -> None:
        """Delete a record with the face in it; only the log still knows that there was one.

        Raises:
            UsageError: there is none of that id.
            VaultError, UnwritableError: see `add`.
        """
        path = self._path(id)
        if not path.is_file():
            raise UsageError(f"there is no record '{id}' in {self.folder}: `mien consent list` shows those there are")
        with writing(path):
            path.unlink()
        self.audit.append("record.forgotten", record=id)

    def expire(self, retention_days: int, now: datetime) -> list[str]:
        """Delete the faces of records that ceased to hold so many days ago; gives their ids.

        Raises:
            VaultError, UnwritableError: see `add`.
        """
        expired: list[str] = []
        for record in self.all():
            ended = record.ended_at()
            if record.embeddings and ended is not None and now - ended >= timedelta(days=retention_days):
                self._write(replace(record, embeddings=()))
                self.audit.append("face.expired", record=record.id)
                expired.append(record.id)
        return expired

    def barred(self) -> Sequence[tuple[str, Sequence[Embedding]]]:
        """Id and faces of each bar that holds.

        Raises:
            VaultError: a record is damaged, or the key cannot be used.
        """
        return [(record.id, record.embeddings) for record in self.all("barred") if record.revoked_at is None]

    def _path(self, id: str) -> Path:
        # An id comes from users: it must not lead out of the folder.
        if not re.fullmatch("[a-z0-9-]+", id):
            raise UsageError(f"'{id}' is no id of a record: `mien consent list` shows them")
        return self._records / f"{id}{SEALED}"

    def _write(self, record: FaceRecord) -> None:
        make_private_folder(self._records)
        write_private(self._path(record.id), self._vault.seal(record.id, record.to_bytes()))

    def _read(self, path: Path) -> FaceRecord:
        try:
            sealed = path.read_bytes()
        except OSError as error:
            raise VaultError(f"the record {path} cannot be read: {error.strerror or error}") from error
        try:
            return FaceRecord.from_bytes(self._vault.unseal(path.stem, sealed))
        except VaultError as error:
            raise VaultError(f"the record {path} cannot be used: {error}") from error
