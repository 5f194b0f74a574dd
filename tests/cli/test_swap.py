"""The main job as a user calls it: results, reports, exit codes, and nothing half-written."""

import json
import shutil
import signal
import subprocess
import sys

import cv2
import numpy as np
import pytest

from mien.cli import main
from mien.recipe import Recipe


@pytest.fixture(autouse=True)
def out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small(astronaut):
    """A small picture of one face: quick to swap."""
    cv2.imwrite("small.png", cv2.imread(str(astronaut))[:256, 100:356])
    return "small.png"


@pytest.fixture
def grey():
    """A picture of nobody."""
    cv2.imwrite("grey.png", np.full((120, 160, 3), 128, np.uint8))
    return "grey.png"


def test_a_picture_is_swapped_and_the_table_says_how(small, hopper, capsys):
    assert main(["swap", str(hopper), small, "-o", "result.png", "--price-per-hour", "1"]) == 0
    before, after = cv2.imread(small).astype(int), cv2.imread("result.png").astype(int)
    changed = np.abs(before - after).max(axis=2)
    assert changed[90:150, 100:150].mean() > 5
    assert changed[:10].mean() < 2  # nothing but the watermark
    shown = capsys.readouterr().out
    for part in (
        "result.png", "1, 1 with a face", "face_mesh_478", "openvino", "the same person", "at 1 an hour",
        "AI-content metadata (XMP)", "vouched for by nobody", "watermark",
    ):  # fmt: skip
        assert part in shown


def test_without_marks_only_the_face_changes(small, hopper, capsys):
    assert main(["swap", str(hopper), small, "-o", "result.png", "--marks", "none"]) == 0
    assert (cv2.imread(small)[:10] == cv2.imread("result.png")[:10]).all()
    assert any(line.split() == ["marks", "none"] for line in capsys.readouterr().out.splitlines())


def test_what_is_meant_for_videos_is_not_ignored_silently(small, hopper, capsys):
    assert main(["swap", str(hopper), small, "-o", "result.png", "--crf", "20", "--end", "5"]) == 0
    assert "without effect on small.png, which is no video: --end, --crf" in capsys.readouterr().out


def test_json_on_standard_output_stands_alone(talk, hopper, capsys):
    assert main(["swap", str(hopper), str(talk), "-o", "result.mp4", "--json", "-", "--preset", "ultrafast"]) == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert (report["frames"], report["frames_with_faces"], report["output"]) == (50, 50, "result.mp4")
    assert "50 of 50" in shown.err


def test_quiet_is_silent(small, hopper, capsys):
    assert main(["swap", str(hopper), small, "-o", "result.png", "--quiet", "--json", "report.json"]) == 0
    assert capsys.readouterr() == ("", "")
    with open("report.json", encoding="utf-8") as file:
        assert json.load(file)["faces"] == 1


def test_a_saved_recipe_does_the_same_again(small, hopper):
    assert main(["swap", str(hopper), small, "-o", "one.png", "--shape", "0.5", "--save-recipe", "job.toml"]) == 0
    assert Recipe.load("job.toml").shape == 0.5
    assert main(["swap", "--recipe", "job.toml", "-o", "two.png"]) == 0
    np.testing.assert_array_equal(cv2.imread("one.png"), cv2.imread("two.png"))


def test_of_many_targets_the_bad_ones_are_listed_and_the_others_done(small, grey, hopper, out, capsys):
    (out / "in").mkdir()
    shutil.copy(small, "in/a png called.jpg")
    shutil.copy(small, "in/ü.png")
    shutil.copy(grey, "in/nobody.png")
    (out / "in" / "notes.txt").write_text("not a picture")
    (out / "in" / ".hidden.png").write_bytes(b"")
    (out / "in" / "empty.mp4").write_bytes(b"")
    assert main(["swap", str(hopper), "in", "-o", "out", "--json", "report.json"]) == 1
    shown = capsys.readouterr()
    assert "left out: in/notes.txt" in shown.err
    assert ".hidden" not in shown.err
    assert "2 of 4 targets failed" in shown.err
    assert "in/nobody.png: " in shown.err
    assert "in/empty.mp4: " in shown.err
    assert (out / "out" / "ü.png").exists()
    assert not (out / "out" / "nobody.png").exists()
    with open("report.json", encoding="utf-8") as file:
        reports = json.load(file)
    assert [report["target"] for report in reports] == [
        "in/a png called.jpg", "in/empty.mp4", "in/nobody.png", "in/ü.png",
    ]  # fmt: skip
    assert [report["target"] for report in reports if "error" in report] == ["in/empty.mp4", "in/nobody.png"]


def test_a_pattern_in_quotes_is_expanded(small, hopper, out):
    (out / "in put").mkdir()
    for name in ("1", "2"):
        shutil.copy(small, f"in put/影 {name}.png")
    assert main(["swap", str(hopper), "in put/影*.png", "-o", "out", "--quiet"]) == 0
    assert sorted(path.name for path in (out / "out").iterdir()) == ["影 1.png", "影 2.png"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{hopper}", "gone.mp4", "-o", "x.mp4"], 1, "gone.mp4"),
        (["gone.jpg", "{small}", "-o", "x.png"], 1, "gone.jpg"),
        (["{grey}", "{small}", "-o", "x.png"], 1, "grey.png"),
        (["{hopper}", "{grey}", "-o", "x.png"], 1, "--allow-no-face"),
        (["{hopper}", "{small}", "-o", "there.png"], 1, "--overwrite"),
        (["{hopper}", "{small}", "-o", "no/folder/x.png"], 1, "no/folder"),
        (["{hopper}", "{small}", "-o", "{small}", "--overwrite"], 2, "small.png"),
        (["{hopper}", "{small}", "-o", "x.png", "--effects", "sparkle"], 2, "sparkle"),
        (["{hopper}", "{small}", "-o", "x.png", "--device", "abacus"], 1, "abacus"),
        (["{hopper}", "{small}", "-o", "x.png", "--faces", "7"], 1, "small.png"),
        (["{small}", "-o", "x.png"], 2, "only one file"),
        (["{hopper}", "{talk}", "{talk}", "-o", "out"], 2, "put a pattern in quotes"),
        (["{hopper}", "{small}", "-o", "x.png", "--json", "no/folder/r.json"], 1, "no/folder"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_left(
    arguments, code, message, small, grey, hopper, talk, out, capsys
):
    shutil.copy(small, "there.png")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert (
        main(["swap", *(text.format(hopper=hopper, small=small, grey=grey, talk=talk) for text in arguments)]) == code
    )
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_target_without_a_face_can_be_allowed(grey, hopper, capsys):
    assert main(["swap", str(hopper), grey, "-o", "x.png", "--allow-no-face"]) == 0
    np.testing.assert_array_equal(cv2.imread("x.png"), cv2.imread("grey.png"))
    assert "warning" in capsys.readouterr().out


def test_a_stopped_job_leaves_no_output_and_goes_on_when_told_to(talk, hopper, out):
    subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", "1", "-i", talk, "-c", "copy", "long.mp4"], check=True)
    command = ["swap", str(hopper), "long.mp4", "-o", "result.mp4", "--segment-seconds", "1", "--preset", "ultrafast"]
    with subprocess.Popen([sys.executable, "-m", "mien", *command], stderr=subprocess.PIPE, text=True) as process:
        while not list(out.glob(".result.mp4.mien/*.packets")):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 4
        told = process.stderr.read()
    assert "--resume" in told
    assert "Traceback" not in told
    assert not (out / "result.mp4").exists()
    assert main([*command, "--resume", "--json", "report.json", "--quiet"]) == 0
    with open("report.json", encoding="utf-8") as file:
        report = json.load(file)
    assert report["frames"] == 100
    assert report["segments_reused"] >= 1
