"""Results of real jobs, marked, that the tests of marks look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from mien.pipeline.api import Runner
from support import jobs
from support.marked import PICTURES, VIDEOS, Made
from support.video import ffmpeg


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    with Runner() as shared:
        yield shared


@pytest.fixture(scope="session")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same portrait in every format of a picture, and the same moment of talk in every container."""
    folder = tmp_path_factory.mktemp("targets")
    with Image.open(jobs.HOPPER) as image:
        portrait = image.convert("RGB")
    portrait.thumbnail((512, 512))
    for suffix in (*PICTURES, "gif", "bmp"):
        portrait.save(folder / f"target.{suffix}")
    jobs.talking_clip(folder / "target.mp4", seconds=0.4, sound=True)
    for suffix in ("mov", "mkv", "avi"):
        ffmpeg("-i", folder / "target.mp4", "-c", "copy", folder / f"target.{suffix}")
    return folder


@pytest.fixture(scope="session")
def made(runner: Runner, targets: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    """Results with metadata and credentials, by ending."""
    folder = tmp_path_factory.mktemp("made")
    results: dict[str, Made] = {}
    for suffix in (*PICTURES, *VIDEOS, "gif", "bmp", "mkv", "avi"):
        target, output = targets / f"target.{suffix}", folder / f"result.{suffix}"
        report = runner.run(jobs.job(target, output, marks="metadata", producer="Test Studio"))
        results[suffix] = Made(target, output, report)
    return results
