"""The process that looks into uploads: its bounds hold, and what breaks it breaks nothing else."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.service.inspection.process import Bounds, Inspector
from mien.service.problems import Problem
from support.people import STILLS

STILL = "grace_hopper.jpg"


@pytest.fixture(scope="module")
def inspector():
    with Inspector(Bounds(seconds=20)) as one:
        one.warm()
        yield one


def _process(inspector: Inspector) -> int:
    running = inspector._all[0]._process
    assert running is not None
    return running.pid


def test_it_knows_nothing_that_opens_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with Inspector() as one:
        one.warm()
        environment = Path(f"/proc/{_process(one)}/environ").read_bytes()
    assert b"PATH=" in environment
    assert b"AWS" not in environment


def test_a_process_that_is_killed_is_replaced(inspector: Inspector) -> None:
    assert inspector.media(str(STILLS), STILL)["faces"] == 1
    before = _process(inspector)
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    assert not inspector.ready
    assert inspector.media(str(STILLS), STILL)["faces"] == 1
    assert _process(inspector) != before


def test_what_takes_too_long_is_given_up(inspector: Inspector) -> None:
    os.kill(_process(inspector), signal.SIGSTOP)
    inspector._all[0]._bounds = Bounds(seconds=0.2)
    try:
        begun_s = time.monotonic()
        with pytest.raises(Problem, match=r"more than 0\.2 s"):
            inspector.media(str(STILLS), STILL)
        assert time.monotonic() - begun_s < 10
    finally:
        inspector._all[0]._bounds = Bounds(seconds=20)
    assert inspector.media(str(STILLS), STILL)["faces"] == 1


def test_what_takes_too_much_memory_ends_itself_only(tmp_path: Path) -> None:
    picture = np.zeros((12_000, 8_000), np.uint8)
    Image.fromarray(picture).save(tmp_path / "large.png", compress_level=1)
    with Inspector(Bounds(memory_bytes=700_000_000)) as small:
        small.warm()
        assert small.media(str(STILLS), STILL)["faces"] == 1
        with pytest.raises(Problem) as refused:
            small.media(str(tmp_path), "large.png")
        assert refused.value.kind.name == "unreadable_media"
        assert small.media(str(STILLS), STILL)["faces"] == 1


def test_more_pixels_than_are_taken_are_not_decoded(tmp_path: Path) -> None:
    Image.new("L", (300, 200)).save(tmp_path / "a.png")
    words = r"a\.png has 300x200 pixels and 59999 are taken"
    with Inspector(Bounds(max_pixels=59_999)) as strict, pytest.raises(Problem, match=words):
        strict.media(str(tmp_path), "a.png")
