"""Which results an installation has marked: entries of its audit log, in which a mark that is found is looked up."""

from __future__ import annotations

from pathlib import Path

from mien.trust.audit import Entry
from mien.trust.consent import ConsentStore

MARKED = "result.marked"


def note_result(folder: Path, produce_id: str, watermark: str | None, consents: tuple[str, ...]) -> None:
    """Enter a result.

    Raises:
        VaultError: the log was changed.
        UnwritableError: it cannot be written.
    """
    ConsentStore(folder).audit.append(MARKED, produceId=produce_id, watermark=watermark, consents=list(consents))


def find_results(folder: Path, *, produce_id: str | None = None, watermark: str | None = None) -> list[Entry]:
    """Entries of results with this number or this watermark, the oldest first.

    Raises:
        VaultError: the log was changed.
    """
    wanted = {"produceId": produce_id, "watermark": watermark}
    return [
        entry
        for entry in ConsentStore(folder).audit.entries()
        if entry.event == MARKED
        and any(value is not None and entry.facts.get(name) == value for name, value in wanted.items())
    ]
