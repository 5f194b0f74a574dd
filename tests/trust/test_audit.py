"""The log: it grows, and tells when anything else was done to it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mien.errors import VaultError
from mien.trust.audit import AuditLog

Lines = list[bytes]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = AuditLog(tmp_path / "audit.log")
    for number in range(5):
        log.append("job.permitted", consents=[f"c-{number}"], ü="ÿ")
    return tmp_path / "audit.log"


def test_entries_come_back_in_order(path: Path) -> None:
    entries = list(AuditLog(path).entries())
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5]
    assert [entry.facts["consents"] for entry in entries] == [[f"c-{number}"] for number in range(5)]
    assert [entry.previous for entry in entries[1:]] == [entry.hash for entry in entries[:-1]]
    assert AuditLog(path).verify() == 5


def test_an_empty_log_is_sound(tmp_path: Path) -> None:
    assert AuditLog(tmp_path / "none.log").verify() == 0


def changed(lines: Lines) -> Lines:
    return [line.replace(b"c-2", b"c-9") for line in lines]


def rehashed(lines: Lines) -> Lines:
    """Changed by someone who knows how the hash is made, but for one entry only."""
    from mien.trust.audit import Entry, _line

    fields = json.loads(lines[2])
    del fields["hash"]
    return [*lines[:2], _line(Entry.make(**{**fields, "event": "other"})).rstrip(), *lines[3:]]


@pytest.mark.parametrize(
    ("meddle", "said"),
    [
        (changed, "entry 3 of .* was changed"),
        (rehashed, "entry 4 of .* was changed, or one before it was taken out"),
        (lambda lines: lines[:1] + lines[2:], "entry 2 of .* was changed, or one before it was taken out"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "entry 1 of"),
        (lambda lines: lines[:4], "was cut short: its last entry is number 4, not 5"),
        (lambda _lines: [], "was cut short: its last entry is number 0, not 5"),
        (lambda lines: [*lines[:2], b"{", *lines[3:]], "entry 3 of .* is damaged"),
        (lambda lines: [*lines, lines[4]], "entry 6 of"),
    ],
)
def test_a_log_that_was_meddled_with_tells(path: Path, meddle: Callable[[Lines], Lines], said: str) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in meddle(path.read_bytes().splitlines())))
    with pytest.raises(VaultError, match=said):
        AuditLog(path).verify()


def test_nothing_is_added_to_a_log_that_was_cut_short(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:4]))
    with pytest.raises(VaultError, match="nothing is added to a log that was changed"):
        AuditLog(path).append("more")


def test_a_log_whose_end_is_not_known_is_not_trusted(path: Path) -> None:
    path.with_name("audit.log.head").unlink()
    with pytest.raises(VaultError, match="is missing, which says where"):
        AuditLog(path).verify()


def test_who_was_stopped_between_entry_and_head_is_no_meddler(path: Path) -> None:
    head = path.with_name("audit.log.head").read_bytes()
    AuditLog(path).append("last words")
    path.with_name("audit.log.head").write_bytes(head)
    assert AuditLog(path).verify() == 6
    AuditLog(path).append("next")
    assert AuditLog(path).verify() == 7


def test_threads_and_processes_write_one_chain(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from mien.trust.audit import AuditLog\n"
        "for _ in range(10): AuditLog(Path(sys.argv[1])).append('child')"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: AuditLog(path).append("thread"), range(20)))
    assert [child.wait() for child in children] == [0, 0]
    assert AuditLog(path).verify() == 45
