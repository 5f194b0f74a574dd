"""The content gate: how votes are counted, that portraits pass, and that what cannot be looked at is refused."""

from __future__ import annotations

import hashlib
import statistics
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mien.errors import ContentRefused
from mien.media.video import VideoSource
from mien.models import opennsfw
from mien.models.catalogue import find_model
from mien.models.nsfwjs import CLASSES, MODEL, NsfwJs
from mien.trust import classifiers
from mien.trust.classifiers import InstalledClassifiers
from mien.trust.gate import Ballot, Gate, votes_needed
from mien.trust.policy import GATE_THRESHOLD, Policy
from support.animate import Clip
from support.classifier import GREEN, GREY, green_classifier, plain, put_in_place
from support.people import INVENTED, NAMES, analyser, invented, picture, still
from support.scenes import talking_head

ROOT = Path(__file__).parents[2]


class Judge:
    """A classifier that always says the same."""

    name = "judge"

    def __init__(self, score: float) -> None:
        self._score = score

    def score(self, picture: NDArray[np.uint8]) -> float:
        del picture
        return self._score


class Bench:
    def __init__(self, *scores: float) -> None:
        self._judges = [Judge(score) for score in scores]

    def load(self) -> list[Judge]:
        return self._judges


class TestVotes:
    @pytest.mark.parametrize(
        ("classifiers", "asked", "needed"),
        [(1, None, 1), (2, None, 1), (3, None, 2), (1, 2, 1), (2, 2, 2), (3, 1, 1)],
    )
    def test_how_many_have_to_agree(self, classifiers: int, asked: int | None, needed: int) -> None:
        assert votes_needed(classifiers, asked) == needed

    @pytest.mark.parametrize(
        ("scores", "policy", "refused"),
        [
            ((0.84,), {}, False),
            ((0.85,), {}, True),
            ((0.85, 0.1), {}, True),
            ((0.85, 0.1), {"gate_votes": 2}, False),
            ((0.85, 0.9), {"gate_votes": 2}, True),
            ((0.4,), {"gate_threshold": 0.4}, True),
        ],
    )
    def test_a_picture(self, scores: tuple[float, ...], policy: dict, refused: bool) -> None:
        assert Gate(Bench(*scores), Policy(**policy)).refuses(plain(GREY)) is refused

    @pytest.mark.parametrize(
        ("refused", "looked", "planned", "share", "stops"),
        [
            (1, 1, 1, 0.1, True),
            (0, 1, 1, 0.0, False),
            (1, 10, 0, 0.1, False),
            (2, 10, 0, 0.1, True),
            (1, 5, 20, 0.1, False),
            (3, 3, 20, 0.1, True),
            (1, 20, 20, 0.0, True),
            (20, 20, 20, 1.0, False),
        ],
    )
    def test_a_clip(self, refused: int, looked: int, planned: int, share: float, stops: bool) -> None:
        ballot = Ballot()
        for number in range(looked):
            ballot.add(number / 2, number < refused)
        if not stops:
            ballot.check("a.mp4", share, planned=planned)
            return
        with pytest.raises(ContentRefused, match=r"a\.mp4 is refused") as refusal:
            ballot.check("a.mp4", share, planned=planned)
        assert (refusal.value.exit_code, refusal.value.problem) == (3, "content_refused")
        if looked > 1:
            assert refusal.value.times_s == tuple(number / 2 for number in range(refused))
            assert f"{refused} of {looked} frames" in str(refusal.value)


@pytest.fixture(scope="module")
def gate() -> Gate:
    """As it comes with mien."""
    return Gate(InstalledClassifiers(), Policy())


@pytest.fixture(scope="module")
def scores(gate: Gate):
    """The bundled classifier's score of a picture."""
    (classifier,) = gate._classifiers.load()[:1]
    return classifier.score


class TestBundled:
    """Half of the threshold is asked for, so that it is not close."""

    @pytest.mark.parametrize("name", [*NAMES, *INVENTED])
    def test_portraits_pass_whole_and_in_every_crop(self, scores, name: str) -> None:
        pixels = picture(name) if name in NAMES else invented(name)
        left, top, right, bottom = analyser().find(pixels)[0].box
        width, height = right - left, bottom - top
        crops = [
            pixels[
                max(int(top - grown * height), 0) : int(bottom + grown * height),
                max(int(left - grown * width), 0) : int(right + grown * width),
            ]
            for grown in (0, 0.3, 0.8)
        ]
        for view in (pixels, *crops, pixels[::2, ::2], pixels // 2):
            assert scores(np.ascontiguousarray(view)) < GATE_THRESHOLD / 2

    def test_clips_pass(self, scores) -> None:
        with VideoSource(str(ROOT / "samples" / "target.mp4")) as clip:
            views = [frame.display(max_side=256) for frame in clip.frames() if frame.index % 25 == 0]
        views += list(Clip(talking_head(still("luispedro"), width=320, height=240, seconds=1)).pictures())[::10]
        assert len(views) > 6
        assert max(scores(view) for view in views) < GATE_THRESHOLD / 2

    @pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (224, 172, 140), (120, 80, 60), GREEN])
    def test_empty_pictures_pass(self, scores, colour: tuple[int, int, int]) -> None:
        assert scores(plain(colour)) < GATE_THRESHOLD / 2

    def test_classes_are_probabilities_in_their_order(self, gate: Gate) -> None:
        (classifier,) = gate._classifiers.load()[:1]
        assert isinstance(classifier, NsfwJs)
        classes = classifier.classify(picture("astronaut"))
        assert classes.sum() == pytest.approx(1, abs=1e-5)
        assert CLASSES[int(classes.argmax())] == "neutral"

    def test_a_frame_costs_less_than_one_look_for_faces(self, scores) -> None:
        """Both measured here and now, as machines differ."""
        pixels = picture("grace_hopper")
        analyser().find(pixels)

        def seconds(work) -> float:
            began = time.perf_counter()
            work(pixels)
            return time.perf_counter() - began

        looks = [(seconds(scores), seconds(analyser().find)) for _ in range(9)]
        assert statistics.median(look for look, _ in looks) < statistics.median(find for _, find in looks)


class TestStandIn:
    """The same path with a network that knows what it is to refuse."""

    def test_it_refuses_what_it_knows_and_nothing_else(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        put_in_place(green_classifier(tmp_path / "green.onnx"), monkeypatch)
        gate = Gate(InstalledClassifiers(), Policy())
        assert gate.names() == [MODEL]
        assert gate.refuses(plain(GREEN))
        assert not gate.refuses(plain(GREY))
        assert not gate.refuses(picture("grace_hopper"))

    def test_a_second_one_votes_where_it_is_installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = second_classifier(tmp_path / "second.onnx")
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        monkeypatch.setattr(opennsfw, "installed", lambda: path)
        monkeypatch.setattr(opennsfw, "ENTRY", replace(opennsfw.ENTRY, sha256=sha256))
        classifiers = InstalledClassifiers()
        assert [one.name for one in classifiers.load()] == [MODEL, "open_nsfw"]
        assert Gate(classifiers, Policy()).refuses(plain(GREEN))
        assert not Gate(classifiers, Policy()).refuses(plain(GREY))
        assert not Gate(classifiers, Policy(gate_votes=2)).refuses(plain(GREEN))
        assert [session.ran.model for session in classifiers.sessions] == [MODEL, "open_nsfw"]

    def test_it_is_not_looked_for_in_vain(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(opennsfw, "PACKAGE", "no_such_package")
        assert opennsfw.installed() is None


def second_classifier(path: Path) -> Path:
    """With the contract of open_nsfw: sexual where the middle is green."""
    from onnx import TensorProto, helper, numpy_helper

    weights = np.array([[0, -0.2], [0, 0.4], [0, -0.2]], np.float32)  # of blue, green, red
    nodes = [
        helper.make_node("ReduceMean", ["input:0"], ["colour"], axes=[1, 2], keepdims=0),
        helper.make_node("MatMul", ["colour", "weights"], ["weighed"]),
        helper.make_node("Add", ["weighed", "bias"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["outputs"], axis=1),
    ]
    ports = [
        helper.make_tensor_value_info("input:0", TensorProto.FLOAT, ("N", 224, 224, 3)),
        helper.make_tensor_value_info("outputs", TensorProto.FLOAT, ("N", 2)),
    ]
    tensors = [
        numpy_helper.from_array(weights, "weights"),
        numpy_helper.from_array(np.array([0, -20], np.float32), "bias"),
    ]
    graph = helper.make_graph(nodes, "second", ports[:1], ports[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


class TestClosed:
    """What cannot be looked at is refused, and the reason is said."""

    @pytest.fixture
    def copy(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A copy of the bundled file, which stands in its place."""
        entry = find_model(MODEL)
        path = tmp_path / "copy.onnx"
        path.write_bytes(entry.path.read_bytes())
        monkeypatch.setattr(classifiers, "find_model", lambda _model: replace(entry, file=str(path)))
        return path

    def refusal(self) -> str:
        with pytest.raises(ContentRefused) as refusal:
            Gate(InstalledClassifiers(), Policy()).refuses(plain(GREY))
        assert refusal.value.exit_code == 3
        return str(refusal.value)

    def test_a_missing_file(self, copy: Path) -> None:
        copy.unlink()
        assert "so all is refused: nsfwjs_mobilenet_v2 is missing" in self.refusal()

    def test_a_file_cut_short(self, copy: Path) -> None:
        copy.write_bytes(copy.read_bytes()[:-1])
        assert "so all is refused: nsfwjs_mobilenet_v2 is damaged" in self.refusal()

    def test_a_file_with_one_other_byte(self, copy: Path) -> None:
        content = bytearray(copy.read_bytes())
        content[-100] ^= 1
        copy.write_bytes(content)
        assert "nsfwjs_mobilenet_v2 is damaged: the SHA-256" in self.refusal()

    def test_a_file_that_no_engine_can_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "none.onnx"
        path.write_bytes(b"no network")
        put_in_place(path, monkeypatch)
        assert "the content gate cannot look at anything" in self.refusal()

    def test_a_second_one_that_is_damaged(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = second_classifier(tmp_path / "second.onnx")
        monkeypatch.setattr(opennsfw, "installed", lambda: path)
        assert "open_nsfw is damaged" in self.refusal()
