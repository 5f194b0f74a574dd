"""A test marked `alone` runs in a process of its own, and what it finds there counts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from support.alone import is_alone, run_alone


@pytest.mark.alone
def test_the_mark_leads_to_a_process_of_its_own() -> None:
    assert is_alone()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("assert 2 * 3 == 7", "assert (2 * 3) == 7"),
        ("pytest.skip('not here')", "1 skipped"),
        ("os.kill(os.getpid(), 9)", "alone in a fresh process"),
    ],
)
def test_only_a_test_that_passed_there_passes(tmp_path: Path, body: str, said: str) -> None:
    (tmp_path / "test_it.py").write_text(f"import os\nimport pytest\n\ndef test_it():\n    {body}\n")
    item = SimpleNamespace(nodeid="test_it.py::test_it", config=SimpleNamespace(rootpath=tmp_path))
    with pytest.raises(pytest.fail.Exception) as raised:
        run_alone(item)  # type: ignore[arg-type]
    assert said in str(raised.value)
