"""The table says what a person wants to know, and leaves out what there is nothing to say about."""

import dataclasses

import pytest

from mien.cli.batch import Outcome
from mien.cli.console import format_bytes, format_duration, table
from mien.cli.summary import format_outcome, format_report
from mien.errors import UnreadableError
from mien.recipe import Recipe
from mien.report import FlaggedFrame, ModelUse, Quality, Report

PICTURE = Report("a.jpg", "b.jpg", "0.1.0", frames=1, frames_with_faces=1, faces=1, seconds=0.8, cpu_seconds=1.0)
CLIP = Report(
    "a.mp4",
    "b.mp4",
    "0.1.0",
    frames=300,
    frames_with_faces=290,
    faces=310,
    tracks=3,
    people=2,
    segments=4,
    segments_reused=3,
    seconds=65.2,
    frames_per_second=4.6,
    media_seconds=10,
    peak_memory_bytes=431_000_000,
    models=[ModelUse("face_mesh_478", "openvino", "cpu", "bf16", 300, 310, 0.93)],
    quality=Quality(0.41, 0.83, 1.02),
    price_per_hour=1.2,
    cost=0.0217,
    cost_per_media_minute=0.1304,
)
JOB = Recipe(sources=("me.jpg",), target="a.mp4", output="out/a.mp4")


def test_a_clip_tells_everything():
    text = format_report(CLIP)
    for part in (
        "b.mp4", "300, 290 with a face; 3 of 4 parts from an earlier run", "310 edited, 2 people, 3 tracks",
        "1:05, 4.6 frames/s", "431 MB", "face_mesh_478  openvino bf16  cpu", "0.41 (the same person)",
        "to the face before 0.83", "flicker 1.02", "0.0217 at 1.2 an hour", "0.1304 for a minute of video",
    ):  # fmt: skip
        assert part in text


def test_a_picture_tells_no_rate_cost_or_quality():
    text = format_report(PICTURE)
    for part in ("frames/s", "real time", "cost", "quality", "warning", "look at", "track"):
        assert part not in text


def test_a_face_that_is_not_the_source_is_not_called_so():
    assert "not seen as the same person" in format_report(dataclasses.replace(CLIP, quality=Quality(0.7)))


def test_neighbouring_flagged_frames_become_one_line():
    flagged = [FlaggedFrame(n, n / 10, "profile", 1) for n in (3, 4, 5, 9)] + [FlaggedFrame(5, 0.5, "lost", 2)]
    text = format_report(dataclasses.replace(CLIP, flagged=flagged))
    assert "frames 3-5 (0.30-0.50 s): profile" in text
    assert "frame 9 (0.90 s): profile" in text
    assert "frame 5 (0.50 s): lost" in text


def test_long_lists_are_cut_and_say_so():
    flagged = [FlaggedFrame(n * 2, n / 5, "profile") for n in range(20)]
    text = format_report(dataclasses.replace(CLIP, flagged=flagged, warnings=[f"w{n}" for n in range(11)]))
    assert "and 12 more (--json has them)" in text
    assert "and 3 more warnings (--json has them)" in text


def test_columns_line_up():
    lines = table([["a", "1"], ["bbb", "22"]], right=[1]).splitlines()
    assert lines == ["a     1", "bbb  22"]
    assert table([]) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (4.24, "4.2 s"), (59.94, "59.9 s"), (59.97, "1:00"), (65, "1:05"), (7400, "2:03:20")],
)
def test_durations(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_900, "1.0 MB"), (431_000_000, "431 MB"), (2e12, "2.0 TB")],
)
def test_sizes(count, text):
    assert format_bytes(count) == text


def test_an_outcome_is_one_line():
    assert format_outcome(Outcome(JOB, report=CLIP)) == "done    a.mp4 -> out/a.mp4: 300 frames in 1:05"
    assert format_outcome(Outcome(JOB)) == "ready   a.mp4 -> out/a.mp4: finished by an earlier run"
    assert format_outcome(Outcome(JOB, error=UnreadableError("a.mp4 is damaged"))) == "failed  a.mp4"
