"""An output has one writer at a time, and one that is gone holds up nobody."""

from __future__ import annotations

import errno
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from mien.errors import UnwritableError
from mien.pipeline import claim as module
from mien.pipeline.claim import claim, lock_path

_HOLDER = """
import sys
from pathlib import Path
from mien.pipeline.claim import claim
with claim(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.read()
"""


def holder(output: Path) -> subprocess.Popen[str]:
    """Another process that has the output until it is killed or its input ends."""
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(output)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "mine\n"
    return child


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.mp4"


def test_the_second_is_refused_and_the_first_keeps_it(output: Path) -> None:
    with claim(output):
        for _ in range(2):
            with pytest.raises(UnwritableError, match=r"out\.mp4 is being written by another job.*another name"):
                ExitStack().enter_context(claim(output))
    with claim(output) as warnings:
        assert warnings == ()


def test_other_outputs_are_free(output: Path) -> None:
    with claim(output), claim(output.with_name("other.mp4")):
        pass


def test_nothing_stays(output: Path) -> None:
    with claim(output):
        pass
    with pytest.raises(ZeroDivisionError), claim(output):
        raise ZeroDivisionError
    assert list(output.parent.iterdir()) == []


def test_other_processes_are_refused_until_it_ends(output: Path) -> None:
    with holder(output) as child:
        with pytest.raises(UnwritableError, match="by another job"):
            ExitStack().enter_context(claim(output))
        child.communicate("")
    with claim(output):
        pass


def test_who_was_killed_stops_nobody(output: Path) -> None:
    with holder(output) as child:
        child.kill()
        child.wait()
    assert lock_path(output).exists()
    with claim(output):
        pass
    assert list(output.parent.iterdir()) == []


def test_a_lock_whose_file_is_gone_is_none(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ends, and takes its file away, just after the second has opened it."""
    try_lock = module.try_lock

    def after_the_first_has_ended(file: object) -> bool:
        lock_path(output).unlink()
        return try_lock(file)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "try_lock", after_the_first_has_ended)
    with pytest.raises(UnwritableError, match="by another job"):
        ExitStack().enter_context(claim(output))


@pytest.mark.parametrize(("code", "goes_on"), [(errno.ENOLCK, True), (errno.EOPNOTSUPP, True), (errno.EIO, False)])
def test_a_file_system_without_locks_is_said(
    output: Path, monkeypatch: pytest.MonkeyPatch, code: int, goes_on: bool
) -> None:
    def refuse(_file: object) -> bool:
        raise OSError(code, "no locks")

    monkeypatch.setattr(module, "try_lock", refuse)
    if goes_on:
        with claim(output) as (warning,):
            assert "without locks" in warning
    else:
        with pytest.raises(UnwritableError, match="no locks"):
            ExitStack().enter_context(claim(output))


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="missing"):
        ExitStack().enter_context(claim(tmp_path / "missing" / "out.mp4"))
