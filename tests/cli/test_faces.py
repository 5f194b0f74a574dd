"""Who is to be seen: list, JSON and contact sheet of real pictures and a clip."""

import json

import cv2
import numpy as np
import pytest

from mien.cli import main
from mien.cli.console import format_moment
from mien.cli.findings import MAX_SAMPLES, sample_ranks
from mien.cli.found_faces import letter
from mien.cli.sheet import COLUMNS, CROP, Group, Portrait, crop_square, draw_sheet, fit_square


@pytest.fixture(autouse=True)
def out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pair(astronaut, hopper):
    """A picture of two people, the second one on the left."""
    pictures = [cv2.imread(str(path)) for path in (hopper, astronaut)]
    height = min(picture.shape[0] for picture in pictures)
    cv2.imwrite("pair.png", np.concatenate([picture[:height] for picture in pictures], axis=1))
    return "pair.png"


def faces(capsys, *arguments):
    assert main(["faces", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_people_of_a_picture_are_told_apart(pair, capsys):
    found = faces(capsys, pair)
    assert (found["kind"], found["frames"], len(found["faces"])) == ("picture", 1, 2)
    by_place = sorted(found["faces"], key=lambda face: face["box"][0])
    ranks = {person["person"]: person["number_from_left"] for person in found["people"]}
    assert [ranks[face["person"]] for face in by_place] == [0, 1]
    assert all(face["score"] > 0.5 and abs(face["pose"]["yaw"]) < 45 for face in found["faces"])


def test_the_boxes_lie_on_the_faces(astronaut, capsys):
    (face,) = faces(capsys, astronaut)["faces"]
    left, top, right, bottom = face["box"]
    assert left < 225 < right  # her nose, read off the picture
    assert top < 120 < bottom
    assert 60 < right - left < 160


def test_a_clip_is_looked_at_every_so_often(talk, capsys):
    found = faces(capsys, talk, "--every", "0.5")
    assert (found["kind"], found["frames"], found["sampled"]) == ("video", 50, 4)
    assert found["people"] == [{"person": "A", "faces": 4, "number_from_left": 0}]
    assert [face["frame"] for face in found["faces"]] == [0, 13, 25, 38]
    assert [face["time_s"] for face in found["faces"]] == pytest.approx([0, 0.52, 1.0, 1.52])


def test_the_list_is_for_people(pair, talk, capsys):
    assert main(["faces", pair]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["person", "place", "size", "score", "yaw", "pitch", "roll"]
    assert lines[-1] == "pair.png: 2 faces, 2 people"
    assert main(["faces", str(talk)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["time", "frame", "person"]
    assert lines[-1].endswith("2 of 50 frames looked at: 2 faces, 1 person")


def test_the_sheet_shows_every_face(pair, astronaut):
    assert main(["faces", pair, "-o", "sheet.png"]) == 0
    sheet = cv2.imread("sheet.png")
    face = fit_square(cv2.cvtColor(cv2.imread(str(astronaut)), cv2.COLOR_BGR2RGB)[60:190, 160:290])
    template = cv2.cvtColor(face[30:110, 30:110], cv2.COLOR_RGB2BGR)
    scores = [
        cv2.matchTemplate(sheet, cv2.resize(template, None, fx=scale, fy=scale), cv2.TM_CCOEFF_NORMED).max()
        for scale in np.linspace(0.6, 1.2, 13)
    ]
    assert max(scores) > 0.8


def test_a_picture_without_a_face_is_said(out, capsys):
    cv2.imwrite("grey.png", np.full((200, 300, 3), 128, np.uint8))
    assert main(["faces", "grey.png", "-o", "sheet.png"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "grey.png: no face found\n"
    assert "sheet.png is not written" in shown.err
    assert not (out / "sheet.png").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["gone.mp4"], 1, "gone.mp4"),
        (["{astronaut}", "-o", "sheet.mp4"], 1, "no name for a picture"),
        (["{astronaut}", "-o", "there.png"], 1, "exists already"),
        (["{astronaut}", "--every", "0"], 2, "--every 0"),
        (["{astronaut}", "--device", "abacus"], 1, "abacus"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, code, message, astronaut, out, capsys):
    (out / "there.png").write_bytes(b"")
    assert main(["faces", *(text.format(astronaut=astronaut) for text in arguments)]) == code
    assert message in capsys.readouterr().err


def test_samples_are_spread_over_a_long_clip():
    times_s = np.arange(0, 3600, 0.04)
    ranks = sample_ranks(times_s, 1.0)
    assert len(ranks) == MAX_SAMPLES
    gaps = np.diff(times_s[ranks])
    assert gaps.min() > 0
    assert gaps.max() - gaps.min() < 1.1
    assert times_s[ranks[-1]] > 3580


@pytest.mark.parametrize(("every_s", "ranks"), [(1.0, [0, 25]), (0.01, list(range(50))), (99.0, [0])])
def test_samples_begin_with_the_first_frame_and_keep_their_distance(every_s, ranks):
    assert sample_ranks([number / 25 for number in range(50)], every_s) == ranks


def test_a_variable_rate_is_sampled_by_time():
    assert sample_ranks([0.0, 0.1, 0.2, 5.0, 5.1, 6.2], 1.0) == [0, 3, 5]


@pytest.mark.parametrize(("person", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA")])
def test_persons_have_letters(person, name):
    assert letter(person) == name


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00.00"), (4.2, "0:04.20"), (59.999, "1:00.00"), (3605, "1:00:05.00")]
)
def test_moments(seconds, text):
    assert format_moment(seconds) == text


@pytest.mark.parametrize("faces_of_each", [[1], [3, 1], [COLUMNS + 1, 20]])
def test_a_sheet_has_room_for_every_face(faces_of_each):
    colours = iter(np.random.default_rng(1).integers(60, 255, (100, 3)))
    groups = [
        Group(
            f"Person {letter(n)}",
            "",
            [Portrait(np.full((CROP, CROP, 3), next(colours), np.uint8), ("", "")) for _ in range(count)],
        )
        for n, count in enumerate(faces_of_each)
    ]
    sheet = draw_sheet("title", groups)
    for group in groups:
        for portrait in group.portraits:
            assert (sheet == portrait.crop[0, 0]).all(axis=2).sum() > 0.98 * CROP * CROP


def test_the_square_around_a_face_stays_inside():
    assert crop_square(np.array([100, 100, 200, 220], np.float32), 1000, 1000).width == round(120 * 1.7)
    corner = crop_square(np.array([-20, -20, 60, 60], np.float32), 100, 100)
    assert (corner.x, corner.y, corner.right, corner.bottom) == (0, 0, 88, 88)
    assert crop_square(np.array([500, 500, 600, 600], np.float32), 100, 100) is None
