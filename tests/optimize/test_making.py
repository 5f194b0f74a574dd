"""Artefacts from the command line to the card: the identity network, and nets with a planted place."""

import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path

import onnx
import pytest

from mien.cli import main
from mien.engine.device import find_device
from mien.errors import ModelError
from mien.models.catalogue import find_model
from mien.optimize.card import card_path, check_artefact, read_card, to_json
from mien.optimize.ledger import Point, pareto
from optimize.nets import STILLS, planted

HAS_INT8 = pytest.mark.skipif("int8" not in find_device("cpu").precisions, reason="this processor has no int8")


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The identity network in INT8, in a folder of its own."""
    output = tmp_path_factory.mktemp("artefacts") / "identity.onnx"
    words = ["dlib_face_recognition", "--calibration", str(STILLS), "--samples", "6", "-o", str(output)]
    assert main(["optimize", "quantize", *words]) == 0
    return output


@HAS_INT8
def test_the_identity_network_stays_good_in_bytes(identity: Path):
    card = read_card(card_path(identity))
    entry = find_model("dlib_face_recognition")
    assert card.verdict.outcome == "passed"
    assert (card.parent.sha256, card.parent.bytes) == (entry.sha256, entry.bytes)
    assert card.sha256 == hashlib.sha256(identity.read_bytes()).hexdigest()
    assert card.calibration == hashlib.sha256(identity.with_suffix(".faces.json").read_bytes()).hexdigest()
    metrics = {metric.name: metric for metric in card.metrics}
    assert metrics["distance error"].value < 0.03
    assert metrics["equal decisions"].worst == 1
    assert card.bytes < 4 * card.parameters / 3.8  # four times smaller than in float32
    assert card.speed.value > 1
    assert card.settings["quantised"] > 20
    assert card.operations == pytest.approx(entry.operations, rel=0.02)
    onnx.checker.check_model(str(identity), full_check=True)


@HAS_INT8
def test_a_card_is_that_of_its_file(identity: Path, tmp_path: Path):
    card = read_card(card_path(identity))
    check_artefact(card, identity)
    (tmp_path / "other.onnx").write_bytes(identity.read_bytes() + b"\0")
    with pytest.raises(ModelError, match="is not the file that its card tells of"):
        check_artefact(card, tmp_path / "other.onnx")
    (tmp_path / "x.card.json").write_text(to_json(card))
    assert read_card(tmp_path / "x.card.json") == card
    (tmp_path / "x.card.json").write_text('{"format": 1}')
    with pytest.raises(ModelError, match="is no card"):
        read_card(tmp_path / "x.card.json")


@HAS_INT8
def test_the_layer_that_bears_no_bytes_stays_in_float32(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    parent = planted(tmp_path / "net.onnx", loud=300)
    words = [str(parent), "--family", "arcface", "--calibration", str(STILLS), "--samples", "6"]
    output = tmp_path / "out.onnx"
    main(["optimize", "quantize", *words, "--even-if-slower", "-o", str(output), "--json"])
    card = json.loads(capsys.readouterr().out)
    assert {"first", "last"} <= set(card["settings"]["kept"])
    assert {"loud", "quiet"} & set(card["settings"]["kept"])
    assert card["settings"]["quantised"] >= 1
    assert card["verdict"]["outcome"] != "refused"


def test_the_place_that_halves_cannot_hold_stays_in_float32(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    parent = planted(tmp_path / "net.onnx", loud=1e7)
    words = [str(parent), "--family", "arcface", "--calibration", str(STILLS), "--samples", "6"]
    output = tmp_path / "out.onnx"
    assert main(["optimize", "convert", *words, "--to", "fp16", "-o", str(output)]) == 0
    card = read_card(card_path(output))
    assert set(card.settings["kept"]) == {"loud", "quiet"}
    assert card.shrinking > 1.8
    assert "passed" in capsys.readouterr().out
    onnx.checker.check_model(str(output), full_check=True)


@HAS_INT8
def test_the_ledger_and_the_page_show_what_the_cards_say(
    identity: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["ledger", str(identity.parent)]) == 0
    table = capsys.readouterr().out
    assert "identity.onnx" in table
    assert "passed" in table
    assert main(["ledger", str(identity.parent), "--json"]) == 0
    [listed] = json.loads(capsys.readouterr().out)
    assert listed["sha256"] == read_card(card_path(identity)).sha256
    page = tmp_path / "report.html"
    assert main(["optimize", "report", str(identity.parent), "-o", str(page)]) == 0
    seen = Tags()
    seen.feed(page.read_text())
    assert seen.counts["svg"] == 1
    assert seen.counts["circle"] == 1
    assert seen.counts["table"] == 1
    assert not seen.outside


class Tags(HTMLParser):
    """Counts elements, and what they take from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.outside += [name for name, _ in attrs if name in ("src", "href")]


@pytest.mark.parametrize(
    ("points", "front"),
    [
        ([], []),
        ([(5, 1)], [0]),
        ([(5, 1), (4, 2)], [1]),
        ([(5, 2), (4, 1), (6, 2), (9, 9)], [1, 0, 3]),
        ([(5, 1), (5, 1)], [0, 1]),
    ],
)
def test_the_front_holds_what_nothing_beats(points, front: list[int]):
    assert pareto([Point(*point) for point in points]) == front


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["convert", "dlib_face_recognition", "--to", "bf16"], 2, "bf16 makes no file of its own"),
        (["convert", "dlib_face_recognition", "--to", "int4"], 2, "there is no form 'int4'"),
        (["quantize", "nothing_like_it"], 1, "there is no network 'nothing_like_it'"),
        (["quantize", "NET"], 2, "say with --family"),
        (["quantize", "dlib_face_recognition", "--family", "arcface"], 2, "leave it out"),
        (["quantize", "NET", "--family", "arcface"], 1, "is not an ONNX network"),
        (["quantize", "nsfwjs_mobilenet_v2"], 2, "do not run alone"),
        (["quantize", "dlib_face_recognition", "--samples", "1"], 2, "1 samples are too few"),
        (["quantize", "dlib_face_recognition", "--device", "tpu"], 1, "device 'tpu' is not there"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "net.onnx").write_bytes(b"nothing of the kind")
    given = [str(tmp_path / "net.onnx") if word == "NET" else word for word in words]
    rest = ["--calibration", str(STILLS), "-o", str(tmp_path / "out.onnx")]
    rest += [] if "--samples" in words else ["--samples", "6"]
    assert main(["optimize", *given, *rest]) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out.onnx").exists()


def test_names_and_files_that_are_there_are_looked_at_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["optimize", "quantize", "dlib_face_recognition", "--calibration", str(STILLS)]
    (tmp_path / "out.onnx").write_bytes(b"")
    for name, said in (("out.onnx", "--overwrite"), ("out.bin", "ends in .onnx"), ("no/out.onnx", "make it first")):
        assert main([*words, "-o", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err
    parent = planted(tmp_path / "net.onnx", loud=1)
    words[2:3] = [str(parent), "--family", "arcface"]
    assert main([*words, "--overwrite", "-o", str(parent)]) == 2
    assert "is the network that is to be read" in capsys.readouterr().err


def test_an_int8_network_is_not_made_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from support.graphs import quantised_convolution

    parent = quantised_convolution(tmp_path / "net.onnx")
    words = [str(parent), "--family", "arcface", "--calibration", str(STILLS), "-o", str(tmp_path / "out.onnx")]
    assert main(["optimize", "quantize", *words]) == 2
    assert "computes in int8 already" in capsys.readouterr().err


def test_folders_without_cards_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["ledger", str(tmp_path)]) == 2
    assert "there is no card in" in capsys.readouterr().err
    assert main(["ledger", str(tmp_path / "nowhere")]) == 2
    assert "is no folder" in capsys.readouterr().err
