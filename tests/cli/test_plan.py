"""A plan says what would run and writes nothing but the recipe that it is asked for."""

import json
import shutil

import pytest

from mien.cli import main
from mien.recipe import Recipe


@pytest.fixture(autouse=True)
def out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_names_target_networks_memory_and_time(talk, hopper, out, capsys):
    assert main(["plan", str(hopper), str(talk), "-o", "result.mp4"]) == 0
    shown = capsys.readouterr().out
    for part in (
        "video, 320x240, 50 frames",
        "result.mp4",
        "face_mesh_478",
        "openvino",
        "libx264",
        "MB",
        "an estimate",
    ):
        assert part in shown
    assert list(out.iterdir()) == []


def test_the_same_as_json(talk, hopper, capsys):
    assert main(["plan", str(hopper), str(talk), "-o", "result.mp4", "--segment-seconds", "1", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["frames"], plan["kind"], plan["output"], plan["segments"]) == (50, "video", "result.mp4", 2)
    assert {model["role"] for model in plan["models"]} >= {"detector", "landmarker", "recogniser"}


def test_without_an_output_a_free_name_beside_the_target_is_planned(astronaut, hopper, capsys):
    shutil.copy(astronaut, "photo.png")
    shutil.copy(astronaut, "photo-swapped.png")
    assert main(["plan", str(hopper), "photo.png", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"] == "photo-swapped-2.png"


def test_many_targets_are_listed_and_no_folder_is_made(talk, astronaut, hopper, out, capsys):
    (out / "in").mkdir()
    shutil.copy(talk, "in/clip.mp4")
    shutil.copy(astronaut, "in/photo.png")
    assert main(["plan", str(hopper), "in", "-o", "out/deeper"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["in/clip.mp4", "video"], ["in/photo.png", "picture"]]
    assert lines[-1].startswith("2 targets, about ")
    assert not (out / "out").exists()


def test_what_swap_would_refuse_is_refused(talk, hopper, out, capsys):
    (out / "there.mp4").write_bytes(b"")
    assert main(["plan", str(hopper), str(talk), "-o", "there.mp4"]) == 1
    assert "--overwrite" in capsys.readouterr().err
    assert main(["plan", str(hopper), str(talk), "-o", "x.mp4", "--codec", "cinepak"]) == 1
    assert "cinepak" in capsys.readouterr().err


def test_one_of_many_that_cannot_be_done_is_named(talk, hopper, out, capsys):
    (out / "in").mkdir()
    shutil.copy(talk, "in/clip.mp4")
    (out / "in" / "broken.mp4").write_bytes(b"no video")
    assert main(["plan", str(hopper), "in/*.mp4", "-o", "out", "--json"]) == 1
    shown = capsys.readouterr()
    assert "in/broken.mp4 cannot be done" in shown.err
    good, bad = json.loads(shown.out)
    assert (good["target"], bad["target"]) == ("in/clip.mp4", "in/broken.mp4")


def test_a_recipe_is_saved_to_be_run_later(talk, hopper, out):
    options = ["--faces", "largest", "--crf", "20", "--start", "0.5"]
    assert main(["plan", str(hopper), str(talk), "-o", "r.mp4", *options, "--save-recipe", "job.json"]) == 0
    assert Recipe.load("job.json") == Recipe(
        sources=(str(hopper),), target=str(talk), output="r.mp4", faces="largest", crf=20, start="0.5"
    )
    assert [path.name for path in out.iterdir()] == ["job.json"]
