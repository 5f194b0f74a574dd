"""What the tests of whole jobs share: one runner, so that networks load once, and a few clips."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mien.pipeline.api import Runner
from mien.report import Report
from support import jobs


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    with Runner() as shared:
        yield shared


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a picture of two people, one of nobody, and a clip of 60 frames with a keyframe every 20."""
    folder = tmp_path_factory.mktemp("material")
    jobs.couple(folder / "couple.png")
    jobs.landscape(folder / "landscape.png")
    jobs.talking_clip(folder / "talking.mp4", seconds=2.4, sound=True)
    return folder


@pytest.fixture(scope="session")
def swapped(runner: Runner, material: Path) -> tuple[Path, Report]:
    """The talking clip, swapped in one uninterrupted run of three segments."""
    output = material / "swapped.mp4"
    return output, runner.run(jobs.talking_job(material, output))
