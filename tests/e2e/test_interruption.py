"""Jobs that are killed, cancelled or run out of disk, and go on."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PIL import Image

from mien.errors import Interrupted, UnwritableError, UsageError
from mien.pipeline.api import Runner
from mien.pipeline.checkpoint import checkpoint_folder
from mien.pipeline.progress import Progress
from mien.recipe import Recipe
from mien.report import Report
from support import jobs

_CHILD = """
import json, sys
import mien
from mien.recipe import Recipe

def tell(progress):
    print(progress.done, flush=True)

from mien.pipeline.api import run
run(Recipe.from_mapping(json.loads(sys.argv[1])), progress=tell)
"""


def start_child(recipe: Recipe) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, json.dumps(recipe.to_mapping())],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_killed_and_resumed_gives_the_same_packets(
    runner: Runner, material: Path, swapped: tuple[Path, Report], tmp_path: Path
) -> None:
    recipe = jobs.talking_job(material, tmp_path / "out.mp4", resume=True)
    child = start_child(recipe)
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) > 40:  # In the last of three segments of 20 frames.
            break
    child.kill()
    child.communicate()
    assert not (tmp_path / "out.mp4").exists()

    report = runner.run(recipe)

    assert (report.segments, report.segments_reused) == (3, 2)
    assert jobs.packets(tmp_path / "out.mp4") == jobs.packets(swapped[0])
    assert (report.frames, report.faces, report.tracks) == (60, 60, 1)
    assert report.quality == swapped[1].quality
    assert report.content is not None
    assert report.content.result == 3  # One frame a second of the whole, not of what this run made.
    assert not checkpoint_folder(tmp_path / "out.mp4").exists()


def test_cancelled_jobs_keep_what_is_finished(runner: Runner, material: Path, tmp_path: Path) -> None:
    stop = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.done > 40:  # In the last of three segments of 20 frames.
            stop.set()

    recipe = jobs.talking_job(material, tmp_path / "out.mp4")
    with pytest.raises(Interrupted, match="2 finished parts are kept"):
        runner.run(recipe, progress=watch, cancelled=stop.is_set)
    assert not (tmp_path / "out.mp4").exists()
    assert len(list(checkpoint_folder(tmp_path / "out.mp4").glob("*.packets"))) == 2

    with pytest.raises(UsageError, match="leave out 'resume'"):
        runner.run(jobs.talking_job(material, tmp_path / "out.mp4", resume=True, shape=0.5))


def test_a_job_can_be_cancelled_before_its_first_frame(runner: Runner, material: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    with pytest.raises(Interrupted):
        runner.run(
            jobs.talking_job(material, tmp_path / "out.mp4"),
            progress=seen.append,
            cancelled=lambda: any("who is there" in progress.stage for progress in seen),
        )
    assert all(progress.done == 0 for progress in seen)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_stops_and_leaves_nothing_under_the_output(runner: Runner, material: Path, tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done >= 1:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="nothing is kept"):
        runner.run(jobs.talking_job(material, tmp_path / "out.mp4", segment_seconds=60), progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_clear_error_and_finished_parts_stay(
    runner: Runner, material: Path, swapped: tuple[Path, Report], tmp_path: Path
) -> None:
    """A limit on the size of files stands for the disk: the segments fit, the joined file does not."""
    recipe = jobs.talking_job(material, tmp_path / "out.mp4")
    limit = int(0.8 * swapped[0].stat().st_size)
    script = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n" + _CHILD
    run = subprocess.run(
        [sys.executable, "-c", script, json.dumps(recipe.to_mapping())], capture_output=True, text=True
    )
    assert "UnwritableError" in run.stderr.splitlines()[-1]
    assert "out.mp4" in run.stderr.splitlines()[-1]
    assert "all parts are kept" in run.stderr.splitlines()[-1]
    assert not (tmp_path / "out.mp4").exists()

    report = runner.run(dataclasses.replace(recipe, resume=True))

    assert report.segments_reused == 3
    assert jobs.packets(tmp_path / "out.mp4") == jobs.packets(swapped[0])
    assert [path.name for path in tmp_path.iterdir()] == ["out.mp4"]


@pytest.mark.parametrize("kind", ["picture", "animation", "video"])
def test_a_second_job_for_the_same_output_is_refused_and_the_first_goes_on(
    runner: Runner, material: Path, tmp_path: Path, kind: str
) -> None:
    if kind == "video":
        first = jobs.talking_job(material, tmp_path / "out.mp4", overwrite=True)
    elif kind == "animation":
        first = jobs.job(_animation(tmp_path / "couple.gif", material), tmp_path / "out.gif", overwrite=True)
    else:
        first = jobs.job(material / "couple.png", tmp_path / "out.png", overwrite=True)
    refused: list[str] = []

    def start_another(progress: Progress) -> None:
        if progress.done and not refused:
            with pytest.raises(UnwritableError, match="is being written by another job") as raised:
                runner.run(dataclasses.replace(first, resume=kind == "video"))
            refused.append(str(raised.value))

    report = runner.run(first, progress=start_another)
    assert len(refused) == 1
    assert first.output in refused[0]
    assert report.faces > 0
    assert Path(first.output).exists()
    assert not list(tmp_path.glob(".*"))


def _animation(path: Path, material: Path) -> Path:
    with Image.open(material / "couple.png") as image:
        frames = [image.convert("RGB"), image.convert("RGB").transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=100)
    return path
