"""Runs side by side, from what was recorded."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from mien.cli import main
from mien.errors import UsageError
from mien.optimize.bench import Entry, Run, compare, read_run, run_suite, to_json
from mien.optimize.metrics import Metric

STEADY = tuple(2 + 0.02 * math.sin(number) for number in range(15))
NOISY = tuple(2 * math.exp(0.4 * math.sin(5 * number)) for number in range(15))
COSINE = Metric("cosine", "", 0.9999, 0.9998, 1.0, 0.9997, True, 8)
SHIFT = Metric("landmark shift", "px", 0.2, 0.1, 0.3, 0.4, False, 8)
OLD = Run("small", "cpu (one)", "engine 1", (Entry("net", 1000, STEADY, 5.0, (COSINE, SHIFT)),))


def changed(**fields) -> Run:
    return replace(OLD, entries=(replace(OLD.entries[0], **fields),))


def times(factor: float, base: tuple[float, ...] = STEADY) -> tuple[float, ...]:
    return tuple(factor * one for one in base)


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (OLD, set()),
        (changed(times=times(0.5)), set()),
        (changed(times=times(1.05)), set()),  # less than a tenth
        (changed(times=times(1.2)), {"slower"}),
        (changed(times=times(1.2, NOISY)), set()),  # slower, but not for sure
        (changed(times=(*STEADY[:-2], 50.0, 60.0)), set()),  # two of fifteen rounds were disturbed
        (changed(times=times(3, NOISY)), {"slower"}),
        (changed(bytes=1005), set()),
        (changed(bytes=1100), {"bigger"}),
        (changed(bytes=10), set()),
        (changed(quality=(replace(COSINE, value=0.9995), SHIFT)), {"worse"}),
        (changed(quality=(COSINE, replace(SHIFT, value=0.21))), set()),
        (changed(quality=(COSINE, replace(SHIFT, value=0.3))), {"worse"}),
        (changed(quality=(COSINE, replace(SHIFT, value=math.inf))), {"worse"}),
        (changed(quality=(COSINE,)), {"missing"}),
        (replace(OLD, entries=()), {"missing"}),
        (changed(times=times(2), bytes=2000), {"slower", "bigger"}),
        (replace(OLD, engine="engine 2"), set()),
        (replace(OLD, entries=(*OLD.entries, Entry("more", 1, (1.0,), 1.0))), set()),
    ],
)
def test_what_got_worse_is_found(new: Run, found: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert {finding.what for finding in compare(OLD, new).findings} == found
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    for file, run in zip(files, (OLD, new), strict=True):
        file.write_text(to_json(run))
    assert main(["bench", "compare", *map(str, files)]) == (1 if found else 0)
    said = capsys.readouterr().out
    assert all(what in said for what in found)


def test_a_run_is_read_as_it_was_written(tmp_path: Path):
    run = changed(quality=(replace(SHIFT, worst=math.inf), replace(COSINE, low=-math.inf)))
    (tmp_path / "run.json").write_text(to_json(run))
    assert read_run(tmp_path / "run.json") == run


@pytest.mark.parametrize("what", ["suite", "device"])
def test_runs_of_different_things_are_not_compared(what: str):
    with pytest.raises(UsageError, match=f"their {what} is"):
        compare(OLD, replace(OLD, **{what: "another"}))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 9}', json.dumps({"format": 1, "entries": [{"times": []}]})]
)
def test_what_is_no_run_is_said(tmp_path: Path, text: str):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=r"is no run as `mien bench run` writes it"):
        read_run(tmp_path / "run.json")
    with pytest.raises(UsageError, match="cannot be read"):
        read_run(tmp_path / "nowhere.json")


def test_a_suite_runs_and_equals_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["bench", "run", "--rounds", "3", "-o", str(tmp_path / "run.json")]) == 0
    assert "span_x2" in capsys.readouterr().out
    run = read_run(tmp_path / "run.json")
    assert all(len(entry.times) == 3 and min(entry.times) > 0 for entry in run.entries)
    assert not compare(run, run).findings
    assert main(["bench", "run", "-o", str(tmp_path / "run.json")]) == 1
    assert "--overwrite" in capsys.readouterr().err
    with pytest.raises(UsageError, match="no suite 'large': it is one of small"):
        run_suite("large")
