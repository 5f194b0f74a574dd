"""Results of whole jobs carry the watermark: the face and the mark are all that differs from the target."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import Interrupted
from mien.pipeline.api import Runner
from mien.pipeline.progress import Progress
from mien.trust.watermark import detect_file
from mien.trust.watermark.ids import to_text
from support import jobs
from support.pictures import psnr


def carried(path: Path) -> str | None:
    """The id that a file's watermark says."""
    found = detect_file(path).mark_id
    return None if found is None else to_text(found)


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds and a little with a keyframe each 20 frames."""
    return jobs.talking_clip(tmp_path_factory.mktemp("talking") / "talking.mp4", seconds=2.4)


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp"])
def test_a_picture_differs_in_the_face_and_the_mark_alone(runner: Runner, suffix: str, tmp_path: Path) -> None:
    plain, output = tmp_path / f"plain.{suffix}", tmp_path / f"out.{suffix}"
    runner.run(jobs.job(jobs.LUIS, plain))
    report = runner.run(jobs.job(jobs.LUIS, output, marks="all"))
    assert carried(output) == report.marks.watermark is not None
    change = np.abs(jobs.rgb(output).astype(int) - jobs.rgb(plain))
    assert change.max() <= (7 if suffix == "png" else 20)
    assert report.marks.watermark_psnr_db is not None
    assert report.marks.watermark_psnr_db >= 40
    if suffix == "png":
        assert psnr(jobs.rgb(output), jobs.rgb(plain)) == pytest.approx(report.marks.watermark_psnr_db, abs=0.1)


def test_a_video_carries_one_id_in_all_its_parts_interrupted_or_not(
    runner: Runner, talking: Path, tmp_path: Path
) -> None:
    whole, parts = (
        jobs.job(talking, tmp_path / name, marks="all", segment_seconds=1, resume=name == "parts.mp4")
        for name in ("whole.mp4", "parts.mp4")
    )
    report = runner.run(whole)
    assert report.segments == 3
    assert carried(tmp_path / "whole.mp4") == report.marks.watermark is not None

    stop = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.done > 25:
            stop.set()

    with pytest.raises(Interrupted):
        runner.run(parts, progress=watch, cancelled=stop.is_set)
    resumed = runner.run(parts)
    assert resumed.segments_reused >= 1
    assert resumed.marks.watermark == report.marks.watermark
    assert jobs.packets(tmp_path / "parts.mp4") == jobs.packets(tmp_path / "whole.mp4")


def test_an_animation_carries_it(runner: Runner, talking: Path, tmp_path: Path) -> None:
    target, output = tmp_path / "target.webp", tmp_path / "out.webp"
    first, *rest = (Image.fromarray(frame) for frame in jobs.video_frames(talking)[:16:4])
    first.save(target, save_all=True, append_images=rest, duration=80, lossless=True)
    report = runner.run(jobs.job(target, output, marks="all"))
    assert carried(output) == report.marks.watermark is not None
    assert report.marks.watermark_psnr_db is not None


@pytest.mark.parametrize("target", ["small.png", "palette.png", "animation.gif"])
def test_what_cannot_carry_it_says_so(runner: Runner, target: str, tmp_path: Path) -> None:
    with Image.open(jobs.LUIS) as image:
        portrait = image.convert("RGB")
    if target == "small.png":
        portrait.thumbnail((200, 140))
        portrait.save(tmp_path / target)
    elif target == "palette.png":
        portrait.quantize(256).save(tmp_path / target)
    else:
        portrait.save(tmp_path / target, save_all=True, append_images=[portrait.rotate(2)], duration=100)
    output = (tmp_path / "out").with_suffix(Path(target).suffix)
    report = runner.run(jobs.job(tmp_path / target, output, marks="all"))
    assert report.marks.watermark is report.marks.watermark_psnr_db is None
    assert any("watermark" in warning and "without" in warning for warning in report.warnings)
    assert not detect_file(output).present
