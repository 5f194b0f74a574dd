"""Whole jobs on pictures and from Python: who is replaced, what stays, what cannot work."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mien
from mien.errors import (
    MienError,
    NoFaceError,
    RecipeError,
    UnreadableError,
    UnwritableError,
    UsageError,
)
from mien.pipeline.api import Runner
from mien.pipeline.progress import Progress
from mien.recipe import PersonMap, Recipe
from support import jobs
from support.animate import Actor, Clip, Motion, Scene, constant
from support.jobs import ASTRONAUT, HOPPER, LUIS
from support.people import still


def test_a_picture_gets_the_face_and_nothing_else(runner: Runner, tmp_path: Path) -> None:
    before = jobs.rgb(HOPPER)
    Image.fromarray(before).save(tmp_path / "target.png")
    report = runner.run(jobs.job(tmp_path / "target.png", tmp_path / "out.png"))

    after = jobs.rgb(tmp_path / "out.png")
    changed = (before != after).any(axis=2)
    inside = np.zeros_like(changed)
    inside[jobs.grown(jobs.faces_in(before)[0].box, 0.5)] = True
    assert changed.any()
    assert not (changed & ~inside).any()
    result = jobs.identities(after)[0]
    assert jobs.distance(result, jobs.identity(ASTRONAUT)) < jobs.distance(result, jobs.identity(HOPPER))
    assert (report.frames, report.faces, report.people, report.segments) == (1, 1, 1, 0)
    assert report.quality.identity_distance == pytest.approx(
        jobs.distance(result, jobs.identity(ASTRONAUT)),
        abs=0.08,  # JPEG, bf16 and the place of the chip
    )


@pytest.mark.parametrize(("yaw", "reasons"), [(0, []), (44, ["unlike-source", "turned"])])
def test_a_head_turned_away_from_what_the_source_shows_is_flagged(
    runner: Runner, tmp_path: Path, yaw: float, reasons: list[str]
) -> None:
    """Luis is seen from the other side: turned so far, the result has a distance of about .7 to him."""
    motion = Motion(yaw=constant(yaw))
    scene = Scene(width=480, height=360, actors=(Actor(still("astronaut"), motion, 0.5),), frames=1)
    Image.fromarray(Clip(scene)[0].picture).save(tmp_path / "turned.png")
    report = runner.run(jobs.job(tmp_path / "turned.png", tmp_path / "out.png", sources=[LUIS]))
    assert [flag.reason for flag in report.flagged] == reasons
    assert ((report.quality.identity_distance or 0.0) >= 0.6) == bool(reasons)


@pytest.mark.parametrize(("faces", "changes"), [("0", (True, False)), ("1", (False, True)), ("all", (True, True))])
def test_only_the_faces_asked_for_change(
    runner: Runner, material: Path, tmp_path: Path, faces: str, changes: tuple[bool, bool]
) -> None:
    before = jobs.rgb(material / "couple.png")
    runner.run(jobs.job(material / "couple.png", tmp_path / "out.png", faces=faces))
    after = jobs.rgb(tmp_path / "out.png")
    boxes = [face.box for face in jobs.faces_in(before)]
    assert tuple(bool((before[jobs.grown(box, 0)] != after[jobs.grown(box, 0)]).any()) for box in boxes) == changes


def test_the_largest_face(runner: Runner, material: Path, tmp_path: Path) -> None:
    before = jobs.rgb(material / "couple.png")
    boxes = [face.box for face in jobs.faces_in(before)]
    largest = max(range(2), key=lambda number: float(np.prod(boxes[number][2:] - boxes[number][:2])))
    runner.run(jobs.job(material / "couple.png", tmp_path / "out.png", faces="largest"))
    after = jobs.rgb(tmp_path / "out.png")
    changes = [bool((before[jobs.grown(box, 0)] != after[jobs.grown(box, 0)]).any()) for box in boxes]
    assert changes == [number == largest for number in range(2)]


def test_a_reference_picture_chooses(runner: Runner, material: Path, tmp_path: Path) -> None:
    before = jobs.rgb(material / "couple.png")
    runner.run(jobs.job(material / "couple.png", tmp_path / "out.png", reference=LUIS))
    after = jobs.rgb(tmp_path / "out.png")
    boxes = [face.box for face in jobs.faces_in(before)]
    assert [bool((before[jobs.grown(box, 0)] != after[jobs.grown(box, 0)]).any()) for box in boxes] == [False, True]


def test_a_map_exchanges_two_people(runner: Runner, material: Path, tmp_path: Path) -> None:
    exchange = (PersonMap((LUIS,), HOPPER), PersonMap((HOPPER,), LUIS))
    runner.run(Recipe(target=str(material / "couple.png"), output=str(tmp_path / "out.png"), map=exchange))
    left, right = jobs.identities(jobs.rgb(tmp_path / "out.png"))
    hopper, luis = jobs.identity(HOPPER), jobs.identity(LUIS)
    assert jobs.distance(left, luis) < jobs.distance(left, hopper)
    assert jobs.distance(right, hopper) < jobs.distance(right, luis)


def test_a_person_who_is_not_there_is_an_error_that_says_so(runner: Runner, material: Path, tmp_path: Path) -> None:
    with pytest.raises(NoFaceError, match=r"astronaut\.png"):
        runner.run(jobs.job(material / "couple.png", tmp_path / "out.png", reference=ASTRONAUT))
    with pytest.raises(NoFaceError, match="number 2"):
        runner.run(jobs.job(material / "couple.png", tmp_path / "out.png", faces="2"))
    assert not (tmp_path / "out.png").exists()


def test_no_face_in_the_source_names_the_file(runner: Runner, material: Path, tmp_path: Path) -> None:
    recipe = jobs.job(HOPPER, tmp_path / "out.jpg", sources=[str(material / "landscape.png")])
    with pytest.raises(NoFaceError, match=r"landscape\.png"):
        runner.run(recipe)


@pytest.mark.parametrize("options", [{}, {"faces": "largest"}, {"reference": HOPPER}], ids=str)
def test_no_face_in_a_picture(runner: Runner, material: Path, tmp_path: Path, options: dict[str, str]) -> None:
    target, output = material / "landscape.png", tmp_path / "out.png"
    with pytest.raises(NoFaceError, match=r"landscape\.png"):
        runner.run(jobs.job(target, output, **options))
    assert not output.exists()
    report = runner.run(jobs.job(target, output, allow_no_face=True, **options))
    assert output.read_bytes() == target.read_bytes()
    assert report.faces == 0
    assert any("no face" in warning for warning in report.warnings)


@pytest.mark.parametrize("which", ["source", "target"])
def test_a_damaged_picture_is_said_in_the_report(runner: Runner, tmp_path: Path, which: str) -> None:
    names = {"source": "source.jpg", "target": "target.jpg"}
    for role, still_ in (("source", ASTRONAUT), ("target", HOPPER)):
        with Image.open(still_) as image:
            image.convert("RGB").save(tmp_path / names[role], quality=90, restart_marker_rows=1)
    data = bytearray((tmp_path / names[which]).read_bytes())
    # Within the last row of blocks, below the face.
    marker = list(re.finditer(rb"\xff[\xd0-\xd7]", data))[-1].end()
    data[marker + 4 : marker + 60] = bytes(56)
    (tmp_path / names[which]).write_bytes(data)
    sources = [str(tmp_path / names["source"])]
    report = runner.run(jobs.job(tmp_path / names["target"], tmp_path / "out.jpg", sources=sources))
    assert report.faces == 1
    (warning,) = (warning for warning in report.warnings if "damaged" in warning)
    assert ("source.jpg" in warning) == (which == "source")


def test_figures_are_those_of_one_run(runner: Runner, tmp_path: Path) -> None:
    for number in range(3):
        report = runner.run(jobs.job(HOPPER, tmp_path / f"{number}.jpg", price_per_hour=3600))
    assert 0 < {use.model: use.items for use in report.models}["face_mesh_478"] < 10
    assert report.cost == pytest.approx(report.seconds)
    assert report.cost_per_media_minute is None


def test_an_output_that_exists_is_left_alone(runner: Runner, tmp_path: Path) -> None:
    output = tmp_path / "out.jpg"
    output.write_bytes(b"precious")
    with pytest.raises(UnwritableError, match="already there"):
        runner.run(jobs.job(HOPPER, output))
    assert output.read_bytes() == b"precious"
    runner.run(jobs.job(HOPPER, output, overwrite=True))
    assert jobs.rgb(output).shape == jobs.rgb(HOPPER).shape


def test_an_output_that_is_an_input_is_refused(runner: Runner, tmp_path: Path) -> None:
    target = tmp_path / "target.jpg"
    shutil.copy(HOPPER, target)
    (tmp_path / "link.jpg").symlink_to(target)
    for output in (target, tmp_path / "link.jpg"):
        with pytest.raises(UsageError, match="the job's own"):
            runner.run(jobs.job(target, output, overwrite=True))
    assert target.read_bytes() == Path(HOPPER).read_bytes()


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"output": "missing/out.jpg"}, UnwritableError, "missing"),
        ({"output": "folder"}, UnwritableError, "is a directory"),
        ({"target": "nowhere.jpg"}, UnreadableError, r"nowhere\.jpg"),
        ({"sources": ["nowhere.png"]}, UnreadableError, r"nowhere\.png"),
        ({"reference": "nowhere.png"}, UnreadableError, r"nowhere\.png"),
        ({"effects": ["glow"]}, RecipeError, "glow"),
        ({"target": "notes.txt"}, UnreadableError, r"notes\.txt"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_work_is_said_plainly(
    runner: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    error: type[MienError],
    match: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("not a picture")
    with pytest.raises(error, match=match):
        runner.run(Recipe.from_mapping({**jobs.job(HOPPER, tmp_path / "out.jpg").to_mapping(), **changes}))
    assert not (tmp_path / "out.jpg").exists()


def test_swap_is_one_call(tmp_path: Path) -> None:
    seen: list[Progress] = []
    report = mien.swap(Path(ASTRONAUT), HOPPER, tmp_path / "out.jpg", faces="largest", progress=seen.append)
    assert isinstance(report, mien.Report)
    assert jobs.rgb(tmp_path / "out.jpg").shape == jobs.rgb(HOPPER).shape
    assert (seen[-1].done, seen[-1].total) == (1, 1)
    with pytest.raises(RecipeError, match="sharpness"):
        mien.swap(ASTRONAUT, HOPPER, tmp_path / "other.jpg", sharpness=3)


def test_a_swapper_edits_the_frames_of_a_stream(material: Path) -> None:
    frames = jobs.video_frames(material / "talking.mp4")[:6]
    copies = [frame.copy() for frame in frames]
    with mien.Swapper(ASTRONAUT) as swapper:
        results = [swapper.frame(frame) for frame in frames]
        assert all(np.array_equal(frame, copy) for frame, copy in zip(frames, copies, strict=True))
        assert all(result.shape == frame.shape for result, frame in zip(results, frames, strict=True))
        source, target = jobs.identity(ASTRONAUT), jobs.identity(HOPPER)
        result = jobs.identities(results[-1])[0]
        assert jobs.distance(result, source) < jobs.distance(result, target)
        swapper.reset()
        assert np.array_equal(swapper.frame(frames[0]), results[0])
        with pytest.raises(UsageError, match="float64"):
            swapper.frame(np.zeros((10, 10, 3)))
        with pytest.raises(UsageError, match="got str"):
            swapper.frame("a.jpg")  # pyright: ignore[reportArgumentType]


def test_a_swapper_does_whole_targets(tmp_path: Path) -> None:
    with mien.Swapper([ASTRONAUT], faces="largest") as swapper:
        for name in ("one.jpg", "two.jpg"):
            assert swapper.run(HOPPER, tmp_path / name).faces == 1
        with pytest.raises(NoFaceError, match="number 1"):
            swapper.run(HOPPER, tmp_path / "three.jpg", faces="1")
