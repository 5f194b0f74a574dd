"""Before and after side by side: sizes, times and sound, seen by an outside reader."""

import json
import shutil
import subprocess

import cv2
import numpy as np
import pytest
from PIL import Image

from mien.cli import main
from mien.cli.side_by_side import DIVIDER, MAX_WIDTH, SideBySide


@pytest.fixture(autouse=True)
def out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def streams(path):
    shown = subprocess.run(
        ["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-of", "json", str(path)],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    return {stream["codec_type"]: stream for stream in json.loads(shown.stdout)["streams"]}


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True)


def audio_md5(path, seconds):
    return subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(path), "-map", "0:a", "-t", str(seconds), "-f", "md5", "-"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    "sizes", [((640, 360), (640, 360)), ((321, 181), (123, 457)), ((7680, 4320), (7680, 4320)), ((1, 900), (3, 3))]
)
def test_the_canvas_is_even_and_bounded(sizes):
    side_by_side = SideBySide(*sizes)
    assert side_by_side.width % 2 == side_by_side.height % 2 == 0
    assert side_by_side.width <= MAX_WIDTH + 2
    canvas = side_by_side.compose(*(np.zeros((height, width, 3), np.uint8) for width, height in sizes))
    assert canvas.shape == (side_by_side.height, side_by_side.width, 3)


def test_pictures_of_one_size_are_kept_as_they_are_below_their_labels(astronaut):
    picture = np.asarray(Image.open(astronaut).convert("RGB"))
    canvas = SideBySide((512, 512), (512, 512)).compose(picture, 255 - picture)
    np.testing.assert_array_equal(canvas[100:, :512], picture[100:])
    np.testing.assert_array_equal(canvas[100:, 512 + DIVIDER :], 255 - picture[100:])
    assert (canvas[:, 512 : 512 + DIVIDER] == 255).all()


def test_each_half_bears_its_label(astronaut):
    picture = np.asarray(Image.open(astronaut).convert("RGB"))
    canvas = SideBySide((512, 512), (512, 512)).compose(picture, picture)
    halves = canvas[:60, :200].astype(int), canvas[:60, 512 + DIVIDER :][:, :200].astype(int)
    for half in halves:
        assert np.abs(half - picture[:60, :200]).max() > 100
    assert np.abs(halves[0] - halves[1]).max() > 100


def test_two_pictures_make_a_picture(astronaut, hopper, capsys):
    assert main(["compare", str(astronaut), str(hopper), "-o", "both.png"]) == 0
    height, width = cv2.imread(str(hopper)).shape[:2]
    assert cv2.imread("both.png").shape == (height // 2 * 2, height // 2 * 2 + DIVIDER + width // 2 * 2, 3)
    assert capsys.readouterr().out == "both.png\n"


def test_two_clips_make_a_clip_with_the_frames_times_and_sound_of_the_second(talk):
    ffmpeg("-i", talk, "-vf", "hflip", "-c:a", "copy", "after.mp4")
    assert main(["compare", str(talk), "after.mp4", "-o", "both.mp4", "--quiet"]) == 0
    found = streams("both.mp4")
    assert (found["video"]["width"], found["video"]["height"]) == (640 + DIVIDER, 240)
    assert found["video"]["nb_read_frames"] == "50"
    assert found["video"]["avg_frame_rate"] == "25/1"
    assert audio_md5("both.mp4", 1.5) == audio_md5("after.mp4", 1.5)


def test_both_halves_show_the_same_moment(talk):
    assert main(["compare", str(talk), str(talk), "-o", "both.mp4", "--quiet"]) == 0
    capture = cv2.VideoCapture("both.mp4")
    frames = {}
    for number in (20, 30):
        capture.set(cv2.CAP_PROP_POS_FRAMES, number)
        frames[number] = capture.read()[1][40:].astype(int)
    left, right = frames[30][:, :320], frames[30][:, 320 + DIVIDER :]
    moved = np.abs(left - frames[20][:, :320]).mean()
    assert np.abs(left - right).mean() < moved / 3


def test_a_result_that_begins_later_is_shown_beside_its_own_moment(talk, capsys):
    ffmpeg("-ss", "0.8", "-i", talk, "-an", "-t", "0.8", "part.mp4")
    assert main(["compare", str(talk), "part.mp4", "-o", "both.mp4", "--start", "0.8", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    capture = cv2.VideoCapture("both.mp4")
    _, frame = capture.read()
    assert np.abs(frame[40:, :320].astype(int) - frame[40:, 320 + DIVIDER :]).mean() < 3
    assert streams("both.mp4")["video"]["nb_read_frames"] == "20"


def test_the_shorter_clip_ends_it_and_that_is_said(talk, capsys):
    ffmpeg("-i", talk, "-t", "1", "-c:a", "copy", "short.mp4")
    assert main(["compare", str(talk), "short.mp4", "-o", "both.mp4"]) == 0
    assert streams("both.mp4")["video"]["nb_read_frames"] == "25"
    assert "ends with the shorter one" in capsys.readouterr().err


def test_a_sound_that_does_not_fit_is_left_out_with_a_warning(talk, capsys):
    assert main(["compare", str(talk), str(talk), "-o", "both.webm"]) == 0
    assert set(streams("both.webm")) == {"video"}
    assert "the sound (aac) does not fit" in capsys.readouterr().err


def test_clips_make_a_picture_of_some_moments_if_named_so(talk):
    assert main(["compare", str(talk), str(talk), "-o", "moments.jpg"]) == 0
    picture = np.asarray(Image.open("moments.jpg")).astype(int)
    assert picture.shape == (3 * 240 + 2 * DIVIDER, 640 + DIVIDER, 3)
    np.testing.assert_allclose(picture[60:240, :316], picture[60:240, 324:640], atol=40)
    assert np.abs(picture[60:240, :316] - picture[60 + 244 : 484, :316]).mean() > 3


def test_an_animation_can_be_compared(talk):
    ffmpeg("-i", talk, "-t", "0.5", "-vf", "fps=10,scale=160:-1", "small.gif")
    assert main(["compare", "small.gif", "small.gif", "-o", "both.mp4", "--quiet"]) == 0
    assert streams("both.mp4")["video"]["nb_read_frames"] == "5"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{talk}", "{astronaut}", "-o", "x.mp4"], 2, "a picture and a clip"),
        (["{astronaut}", "{astronaut}", "-o", "x.mp4"], 1, "no name for a picture"),
        (["{talk}", "{talk}", "-o", "x.txt"], 1, "no name for a clip"),
        (["{talk}", "gone.mp4", "-o", "x.mp4"], 1, "gone.mp4"),
        (["{talk}", "{talk}", "-o", "there.mp4"], 1, "exists already"),
        (["there.mp4", "{talk}", "-o", "./there.mp4", "--overwrite"], 2, "another name"),
        (["{talk}", "{talk}", "-o", "no/folder/x.mp4"], 1, "does not exist"),
        (["{talk}", "{talk}", "-o", "x.mp4", "--start", "99"], 2, "nothing of"),
    ],
)
def test_what_cannot_be_compared_is_said_and_nothing_is_left(arguments, code, message, talk, astronaut, out, capsys):
    shutil.copy(talk, "there.mp4")
    assert main(["compare", *(text.format(talk=talk, astronaut=astronaut) for text in arguments)]) == code
    assert message in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["there.mp4"]
    assert (out / "there.mp4").read_bytes() == talk.read_bytes()
