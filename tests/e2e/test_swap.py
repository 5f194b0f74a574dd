"""Whole jobs on real pictures and clips, from recipe to file and report."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

import mien
from mien.errors import (
    Interrupted,
    MienError,
    NoFaceError,
    RecipeError,
    UnreadableError,
    UnwritableError,
    UsageError,
)
from mien.pipeline.api import Runner
from mien.pipeline.checkpoint import checkpoint_folder
from mien.pipeline.progress import Progress
from mien.recipe import PersonMap, Recipe
from mien.report import Report
from support import jobs
from support.jobs import ASTRONAUT, HOPPER, LUIS


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as shared:
        yield shared


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("material")
    jobs.couple(folder / "couple.png")
    jobs.landscape(folder / "landscape.png")
    jobs.talking_clip(folder / "talking.mp4", seconds=2.4, sound=True)
    return folder


@pytest.fixture(scope="module")
def swapped(runner: Runner, material: Path) -> tuple[Path, Report]:
    """The talking clip in one uninterrupted run of three segments."""
    output = material / "swapped.mp4"
    return output, runner.run(video_recipe(material, output))


_INDEX_FIRST = {"movflags": "faststart"}


def video_recipe(material: Path, output: Path, **options: object) -> Recipe:
    fields = {"sources": [ASTRONAUT], "segment_seconds": 1, **options}
    return Recipe.from_mapping({"target": str(material / "talking.mp4"), "output": str(output), **fields})


def picture_recipe(target: str | Path, output: Path, **options: object) -> Recipe:
    fields = {"target": str(target), "output": str(output), "sources": [ASTRONAUT]}
    return Recipe.from_mapping({**fields, **options})


def grown(box: np.ndarray, by: float) -> tuple[slice, slice]:
    """Rows and columns of a face's box grown by a part of its size on each side."""
    left, top, right, bottom = box
    width, height = by * (right - left), by * (bottom - top)
    return (
        slice(max(int(top - height), 0), int(bottom + height) + 1),
        slice(max(int(left - width), 0), int(right + width) + 1),
    )


# --- pictures -------------------------------------------------------------------------------------------------------


def test_a_picture_gets_the_face_and_nothing_else(runner: Runner, tmp_path: Path) -> None:
    before = jobs.rgb(HOPPER)
    Image.fromarray(before).save(tmp_path / "target.png")
    report = runner.run(picture_recipe(tmp_path / "target.png", tmp_path / "out.png"))

    after = jobs.rgb(tmp_path / "out.png")
    changed = (before != after).any(axis=2)
    inside = np.zeros_like(changed)
    inside[grown(jobs.faces_in(before)[0].box, 0.5)] = True
    assert changed.any()
    assert not (changed & ~inside).any()
    result = jobs.identities(after)[0]
    assert jobs.distance(result, jobs.identity(ASTRONAUT)) < jobs.distance(result, jobs.identity(HOPPER))
    assert (report.frames, report.faces, report.people, report.segments) == (1, 1, 1, 0)
    assert report.quality.identity_distance == pytest.approx(
        jobs.distance(result, jobs.identity(ASTRONAUT)),
        abs=0.08,  # JPEG, bf16 and the place of the chip
    )


@pytest.mark.parametrize(("faces", "changes"), [("0", (True, False)), ("1", (False, True)), ("all", (True, True))])
def test_only_the_faces_asked_for_change(
    runner: Runner, material: Path, tmp_path: Path, faces: str, changes: tuple[bool, bool]
) -> None:
    before = jobs.rgb(material / "couple.png")
    runner.run(picture_recipe(material / "couple.png", tmp_path / "out.png", faces=faces))
    after = jobs.rgb(tmp_path / "out.png")
    boxes = [face.box for face in jobs.faces_in(before)]
    assert tuple(bool((before[grown(box, 0)] != after[grown(box, 0)]).any()) for box in boxes) == changes


def test_the_largest_face(runner: Runner, material: Path, tmp_path: Path) -> None:
    before = jobs.rgb(material / "couple.png")
    boxes = [face.box for face in jobs.faces_in(before)]
    largest = max(range(2), key=lambda number: float(np.prod(boxes[number][2:] - boxes[number][:2])))
    runner.run(picture_recipe(material / "couple.png", tmp_path / "out.png", faces="largest"))
    after = jobs.rgb(tmp_path / "out.png")
    changes = [bool((before[grown(box, 0)] != after[grown(box, 0)]).any()) for box in boxes]
    assert changes == [number == largest for number in range(2)]


def test_a_reference_picture_chooses(runner: Runner, material: Path, tmp_path: Path) -> None:
    before = jobs.rgb(material / "couple.png")
    runner.run(picture_recipe(material / "couple.png", tmp_path / "out.png", reference=LUIS))
    after = jobs.rgb(tmp_path / "out.png")
    boxes = [face.box for face in jobs.faces_in(before)]
    assert [bool((before[grown(box, 0)] != after[grown(box, 0)]).any()) for box in boxes] == [False, True]


def test_a_map_exchanges_two_people(runner: Runner, material: Path, tmp_path: Path) -> None:
    exchange = (PersonMap((LUIS,), HOPPER), PersonMap((HOPPER,), LUIS))
    runner.run(Recipe(target=str(material / "couple.png"), output=str(tmp_path / "out.png"), map=exchange))
    left, right = jobs.identities(jobs.rgb(tmp_path / "out.png"))
    hopper, luis = jobs.identity(HOPPER), jobs.identity(LUIS)
    assert jobs.distance(left, luis) < jobs.distance(left, hopper)
    assert jobs.distance(right, hopper) < jobs.distance(right, luis)


def test_a_person_who_is_not_there_is_an_error_that_says_so(runner: Runner, material: Path, tmp_path: Path) -> None:
    with pytest.raises(NoFaceError, match=r"astronaut\.png"):
        runner.run(picture_recipe(material / "couple.png", tmp_path / "out.png", reference=ASTRONAUT))
    with pytest.raises(NoFaceError, match="number 2"):
        runner.run(picture_recipe(material / "couple.png", tmp_path / "out.png", faces="2"))
    assert not (tmp_path / "out.png").exists()


# --- no face --------------------------------------------------------------------------------------------------------


def test_no_face_in_the_source_names_the_file(runner: Runner, material: Path, tmp_path: Path) -> None:
    recipe = picture_recipe(HOPPER, tmp_path / "out.jpg", sources=[str(material / "landscape.png")])
    with pytest.raises(NoFaceError, match=r"landscape\.png"):
        runner.run(recipe)


@pytest.mark.parametrize("options", [{}, {"faces": "largest"}, {"reference": HOPPER}], ids=str)
def test_no_face_in_a_picture(runner: Runner, material: Path, tmp_path: Path, options: dict[str, str]) -> None:
    target, output = material / "landscape.png", tmp_path / "out.png"
    with pytest.raises(NoFaceError, match=r"landscape\.png"):
        runner.run(picture_recipe(target, output, **options))
    assert not output.exists()
    report = runner.run(picture_recipe(target, output, allow_no_face=True, **options))
    assert output.read_bytes() == target.read_bytes()
    assert report.faces == 0
    assert any("no face" in warning for warning in report.warnings)


def test_no_face_in_a_video(runner: Runner, material: Path, tmp_path: Path) -> None:
    target, output = tmp_path / "empty.mp4", tmp_path / "out.mp4"
    pixels = jobs.rgb(material / "landscape.png")
    with av.open(str(target), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.height, stream.width = pixels.shape[:2]
        stream.pix_fmt = "yuv420p"
        for _ in range(20):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    with pytest.raises(NoFaceError, match=r"empty\.mp4"):
        runner.run(picture_recipe(target, output))
    assert not output.exists()
    assert not checkpoint_folder(output).exists()
    runner.run(picture_recipe(target, output, allow_no_face=True))
    assert output.read_bytes() == target.read_bytes()
    report = runner.run(picture_recipe(target, tmp_path / "part.mp4", allow_no_face=True, start="10f"))
    assert report.frames == len(jobs.video_frames(tmp_path / "part.mp4")) == 10


# --- video ----------------------------------------------------------------------------------------------------------


def test_a_video_gets_the_face_and_keeps_its_frames(swapped: tuple[Path, Report], material: Path) -> None:
    output, report = swapped
    before, after = jobs.video_frames(material / "talking.mp4"), jobs.video_frames(output)
    assert len(after) == len(before) == report.frames == 60
    source, target = jobs.identity(ASTRONAUT), jobs.identity(HOPPER)
    for index in (5, 30, 55):
        result = jobs.identities(after[index])[0]
        assert jobs.distance(result, source) < jobs.distance(result, target)
    assert not checkpoint_folder(output).exists()


def test_sound_is_copied(swapped: tuple[Path, Report], material: Path) -> None:
    sounds = [
        [packet[3] for packet in jobs.packets(path) if packet[0] == 1]
        for path in (material / "talking.mp4", swapped[0])
    ]
    assert sounds[0] == sounds[1] != []


def test_the_report_of_a_video_is_complete(swapped: tuple[Path, Report]) -> None:
    _, report = swapped
    assert (report.frames_with_faces, report.faces, report.tracks, report.people) == (60, 60, 1, 1)
    assert (report.segments, report.segments_reused) == (3, 0)
    assert report.media_seconds == pytest.approx(2.4)
    assert report.frames_per_second == pytest.approx(60 / report.seconds)
    assert 0 < report.first_frame_seconds < report.seconds
    assert report.cpu_seconds > 0
    assert 100e6 < report.peak_memory_bytes < 2e9
    assert {"sources", "survey", "decode", "follow", "edit", "measure", "encode", "join"} <= set(report.stages)
    assert all(seconds > 0 for seconds in report.stages.values())
    used = {use.model: use for use in report.models}
    assert used["face_mesh_478"].items >= 60
    assert used["face_mesh_478"].engine == "openvino"
    assert 0 < report.quality.identity_distance < report.quality.target_distance + 0.3  # type: ignore[operator]
    assert report.quality.flicker is not None
    assert json.loads(json.dumps(report.to_mapping()))["frames"] == 60


def test_figures_are_those_of_one_run(runner: Runner, tmp_path: Path) -> None:
    for number in range(3):
        report = runner.run(picture_recipe(HOPPER, tmp_path / f"{number}.jpg", price_per_hour=3600))
    assert 0 < {use.model: use.items for use in report.models}["face_mesh_478"] < 10
    assert report.cost == pytest.approx(report.seconds)
    assert report.cost_per_media_minute is None


@pytest.mark.parametrize("pixel_format", ["yuv420p", "yuv420p10le"])
def test_outside_the_face_the_encoder_gets_what_the_decoder_gave(
    runner: Runner, tmp_path: Path, pixel_format: str
) -> None:
    target = jobs.talking_clip(
        tmp_path / "target.mkv", seconds=0.4, codec="ffv1", pixel_format=pixel_format, options={}
    )
    runner.run(picture_recipe(target, tmp_path / "out.mkv"))
    boxes = [jobs.faces_in(picture)[0].box for picture in jobs.video_frames(target)]
    count = 0
    for box, before, after in zip(boxes, jobs.planes(target), jobs.planes(tmp_path / "out.mkv"), strict=True):
        for plane, (old, new) in enumerate(zip(before, after, strict=True)):
            scale = 1 if plane == 0 else 2
            inside = np.zeros(old.shape, bool)
            inside[grown(box / scale, 0.55)] = True
            assert (old != new)[inside].any()
            assert not (old != new)[~inside].any()
        count += 1
    assert count == 10


def test_a_part_of_a_video(runner: Runner, material: Path, tmp_path: Path) -> None:
    report = runner.run(video_recipe(material, tmp_path / "out.mp4", start="0.4", end="30f"))
    assert report.frames == len(jobs.video_frames(tmp_path / "out.mp4")) == 20
    assert report.media_seconds == pytest.approx(0.8)


def test_two_people_who_cross_keep_their_roles(runner: Runner, tmp_path: Path) -> None:
    target = jobs.crossing_clip(tmp_path / "crossing.mp4", 1.6)
    exchange = (PersonMap((LUIS,), HOPPER), PersonMap((HOPPER,), LUIS))
    report = runner.run(Recipe(target=str(target), output=str(tmp_path / "out.mp4"), map=exchange))
    hopper, luis = jobs.identity(HOPPER), jobs.identity(LUIS)
    frames = jobs.video_frames(tmp_path / "out.mp4")
    first, last = jobs.identities(frames[1]), jobs.identities(frames[-2])
    # In the clip Hopper starts on the left and ends on the right; in the result it is Luis who does.
    for face, wanted, other in ((first[0], luis, hopper), (first[1], hopper, luis)):
        assert jobs.distance(face, wanted) < jobs.distance(face, other)
    for face, wanted, other in ((last[0], hopper, luis), (last[1], luis, hopper)):
        assert jobs.distance(face, wanted) < jobs.distance(face, other)
    assert report.people == 2


def test_an_animation_keeps_its_timing(runner: Runner, tmp_path: Path) -> None:
    portrait = Image.fromarray(jobs.rgb(HOPPER)).resize((256, 300))
    pictures = [portrait.rotate(angle) for angle in (0, 2, 4)]
    durations = [40, 120, 200]
    pictures[0].save(
        tmp_path / "in.webp", save_all=True, append_images=pictures[1:], duration=durations, loop=3, lossless=True
    )
    report = runner.run(picture_recipe(tmp_path / "in.webp", tmp_path / "out.webp"))
    with Image.open(tmp_path / "in.webp") as before, Image.open(tmp_path / "out.webp") as after:
        assert after.n_frames == 3
        assert after.info["loop"] == 3
        for index, duration in enumerate(durations):
            before.seek(index)
            after.seek(index)
            after.load()
            assert after.info["duration"] == duration
            assert np.any(np.asarray(before.convert("RGB")) != np.asarray(after.convert("RGB")))
    assert (report.frames, report.faces) == (3, 3)
    assert report.media_seconds == pytest.approx(float(Fraction(360, 1000)))


# --- interruption ---------------------------------------------------------------------------------------------------

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
    recipe = video_recipe(material, tmp_path / "out.mp4", resume=True)
    child = start_child(recipe)
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) >= 55:  # In the last of three segments.
            break
    child.kill()
    child.communicate()
    assert not (tmp_path / "out.mp4").exists()

    report = runner.run(recipe)

    assert (report.segments, report.segments_reused) == (3, 2)
    assert jobs.packets(tmp_path / "out.mp4") == jobs.packets(swapped[0])
    assert (report.frames, report.faces, report.tracks) == (60, 60, 1)
    assert report.quality == swapped[1].quality
    assert not checkpoint_folder(tmp_path / "out.mp4").exists()


def test_cancelled_jobs_keep_what_is_finished(runner: Runner, material: Path, tmp_path: Path) -> None:
    stop = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.done >= 55:
            stop.set()

    recipe = video_recipe(material, tmp_path / "out.mp4")
    with pytest.raises(Interrupted, match="2 finished parts are kept"):
        runner.run(recipe, progress=watch, cancelled=stop.is_set)
    assert not (tmp_path / "out.mp4").exists()
    assert len(list(checkpoint_folder(tmp_path / "out.mp4").glob("*.packets"))) == 2

    with pytest.raises(UsageError, match="leave out 'resume'"):
        runner.run(video_recipe(material, tmp_path / "out.mp4", resume=True, shape=0.5))


def test_ctrl_c_stops_and_leaves_nothing_under_the_output(runner: Runner, material: Path, tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done >= 1:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="nothing is kept"):
        runner.run(video_recipe(material, tmp_path / "out.mp4", segment_seconds=60), progress=interrupt)
    assert list(tmp_path.iterdir()) == []


# --- trouble --------------------------------------------------------------------------------------------------------


def test_an_output_that_exists_is_left_alone(runner: Runner, tmp_path: Path) -> None:
    output = tmp_path / "out.jpg"
    output.write_bytes(b"precious")
    with pytest.raises(UnwritableError, match="already there"):
        runner.run(picture_recipe(HOPPER, output))
    assert output.read_bytes() == b"precious"
    runner.run(picture_recipe(HOPPER, output, overwrite=True))
    assert jobs.rgb(output).shape == jobs.rgb(HOPPER).shape


def test_an_output_that_is_an_input_is_refused(runner: Runner, tmp_path: Path) -> None:
    target = tmp_path / "target.jpg"
    shutil.copy(HOPPER, target)
    (tmp_path / "link.jpg").symlink_to(target)
    for output in (target, tmp_path / "link.jpg"):
        with pytest.raises(UsageError, match="the job's own"):
            runner.run(picture_recipe(target, output, overwrite=True))
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
        runner.run(Recipe.from_mapping({**picture_recipe(HOPPER, tmp_path / "out.jpg").to_mapping(), **changes}))
    assert not (tmp_path / "out.jpg").exists()


def test_a_full_disk_is_a_clear_error_and_finished_parts_stay(material: Path, tmp_path: Path) -> None:
    """A limit on file sizes stands for the disk: the segments fit, the joined file does not."""
    recipe = video_recipe(material, tmp_path / "out.mp4", crf=12)
    limit = 60_000
    script = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n" + _CHILD
    environment = {**os.environ, "MIEN_CACHE": str(tmp_path / "no-cache")}
    run = subprocess.run(
        [sys.executable, "-c", script, json.dumps(recipe.to_mapping())], capture_output=True, text=True, env=environment
    )
    assert "UnwritableError" in run.stderr.splitlines()[-1]
    assert not (tmp_path / "out.mp4").exists()
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_target_that_ends_early_gives_what_there_is_and_a_warning(runner: Runner, tmp_path: Path) -> None:
    whole = jobs.remux(jobs.talking_clip(tmp_path / "clip.mp4", seconds=1.2), tmp_path / "whole.mp4", _INDEX_FIRST)
    content = whole.read_bytes()
    (tmp_path / "cut.mp4").write_bytes(content[: int(0.7 * len(content))])
    report = runner.run(picture_recipe(tmp_path / "cut.mp4", tmp_path / "out.mp4"))
    assert 0 < report.frames < 30
    assert len(jobs.video_frames(tmp_path / "out.mp4")) == report.frames
    assert any("ends early" in warning for warning in report.warnings)


# --- the Python door ------------------------------------------------------------------------------------------------


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


def test_a_swapper_does_whole_targets(tmp_path: Path) -> None:
    with mien.Swapper([ASTRONAUT], faces="largest") as swapper:
        for name in ("one.jpg", "two.jpg"):
            assert swapper.run(HOPPER, tmp_path / name).faces == 1
        with pytest.raises(NoFaceError, match="number 1"):
            swapper.run(HOPPER, tmp_path / "three.jpg", faces="1")
