"""`mien verify`: its exit codes, and what it prints for people and programs."""

import json
import shutil

import pytest

from mien.cli import main


@pytest.fixture(scope="module")
def results(tmp_path_factory, astronaut, hopper):
    """A result with every mark, one without the watermark, and one without any."""
    folder = tmp_path_factory.mktemp("results")
    for marks in ("all", "metadata", "none"):
        swap = ["swap", str(astronaut), str(hopper), "-o", str(folder / f"{marks}.jpg"), "--marks", marks, "--quiet"]
        assert main(swap) == 0
    return folder


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("all", [], 0),
        ("all", ["--marks", "metadata"], 0),
        ("metadata", [], 1),
        ("metadata", ["--marks", "metadata"], 0),
        ("none", [], 1),
        ("none", ["--marks", "metadata"], 1),
    ],
)
def test_the_exit_code_says_whether_every_mark_is_there(results, capsys, name, options, code):
    assert main(["verify", str(results / f"{name}.jpg"), *options]) == code
    shown = capsys.readouterr().out
    for mark in ("AI-content metadata", "content credentials", "watermark"):
        assert mark in shown


def test_what_each_mark_says_is_told(results, capsys):
    main(["verify", str(results / "all.jpg")])
    shown = capsys.readouterr().out
    for words in (
        "made by AI",
        "producer mien",
        "signed by",
        "nothing was changed since",
        "made here on",
        "face_mesh_478",
    ):
        assert words in shown


def test_a_changed_byte_breaks_it(results, capsys, tmp_path):
    data = bytearray((results / "all.jpg").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "changed.jpg").write_bytes(data)
    assert main(["verify", str(tmp_path / "changed.jpg")]) == 1
    assert "the picture or its metadata was changed after signing" in capsys.readouterr().out


def test_json_for_programs(results, capsys):
    assert main(["verify", "--json", str(results / "all.jpg"), str(results / "none.jpg")]) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert (first["sound"], second["sound"]) == (True, False)
    assert [mark["state"] for mark in first["marks"]] == ["ok", "ok", "ok"]
    assert {mark["state"] for mark in second["marks"]} == {"missing"}
    assert first["marks"][0]["facts"]["produce_id"] == first["marks"][1]["facts"]["edit"]["produceId"]


def test_files_that_cannot_be_read_are_told_beside_the_others(results, capsys, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    shutil.copy(results / "all.jpg", tmp_path / "ü.jpg")
    names = [str(tmp_path / name) for name in ("gone.jpg", "notes.txt", "ü.jpg")]
    assert main(["verify", *names]) == 1
    shown = capsys.readouterr()
    assert "ü.jpg" in shown.out
    assert "gone.jpg does not exist" in shown.err
    assert "notes.txt" in shown.err


@pytest.mark.parametrize("arguments", [[], ["--marks", "none", "a.jpg"], ["--what", "a.jpg"]])
def test_wrong_use(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["verify", *arguments])
    assert stopped.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_an_issuer_that_is_no_file(results, capsys):
    assert main(["verify", "--trust", "gone.pem", str(results / "all.jpg")]) == 1
    assert "gone.pem cannot be read" in capsys.readouterr().err
