"""The benchmarks' own arithmetic, and that a job in a process of its own tells what it should."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

import av
import pytest

import memory
from _clips import looped
from _measure import Run, machine, run_job, summary

SAMPLE = Path(__file__).parents[1] / "samples" / "target.mp4"


def test_a_looped_clip_goes_on_without_a_gap(tmp_path: Path) -> None:
    shutil.copy(SAMPLE, tmp_path / "clip.mp4")
    with av.open(str(looped(tmp_path / "clip.mp4", 3))) as container:
        times = [frame.pts for frame in container.decode(video=0)]
    with av.open(str(SAMPLE)) as container:
        frames = container.streams.video[0].frames
    assert len(times) == 3 * frames
    assert len({later - earlier for earlier, later in pairwise(times)}) == 1


def test_resident_size_is_that_of_the_frames_asked_for() -> None:
    sizes = [(0, 1_000_000), (10, 5_000_000), (15, 7_000_000), (19, 9_000_000), (20, 50_000_000)]
    assert memory.resident_mb(sizes, 10, 20) == 7.0


def test_summary_is_made_of_medians() -> None:
    runs = [Run(wall, 2 * wall, int(wall * 1e6), wall / 10, {}) for wall in (1.0, 5.0, 2.0)]
    assert summary(runs) == {"wall_s": 2.0, "cpu_s": 4.0, "first_frame_s": 0.2, "peak_mb": 2.0}


def test_the_machine_is_described_without_its_name() -> None:
    described = json.loads(json.dumps(machine()))
    assert set(described) == {"system", "cores", "capabilities", "memory_gb", "python", "packages"}
    assert described["cores"] >= 1


@pytest.mark.slow
def test_a_plain_transcode_keeps_frames_and_sound(tmp_path: Path) -> None:
    run = run_job("transcode", SAMPLE, tmp_path / "out.mp4", "libx264", "yuv420p", '{"preset": "ultrafast"}')
    assert 0 < run.first_frame_s < run.wall_s
    assert run.peak_bytes > 10_000_000
    with av.open(str(SAMPLE)) as before, av.open(str(tmp_path / "out.mp4")) as after:
        for stream in ("video", "audio"):
            old, new = (getattr(file.streams, stream)[0] for file in (before, after))
            assert new.frames == old.frames
        assert after.streams.video[0].average_rate == before.streams.video[0].average_rate
