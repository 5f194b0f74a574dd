"""Whole jobs that are let through, refused, or stopped on their way."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from mien.errors import ConsentError, ContentRefused, PolicyError
from mien.pipeline import live, survey, video_job
from mien.pipeline.api import Runner, Swapper
from mien.pipeline.checkpoint import checkpoint_folder
from mien.pipeline.dispatch import run_job
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from mien.report import Report
from mien.trust.classifiers import InstalledClassifiers
from mien.trust.consent import ConsentStore
from mien.trust.policy import Policy
from mien.trust.records import FaceRecord
from support import jobs
from support.classifier import GREEN, GREY, coloured_clip, green_classifier, plain, put_in_place

RunWith = Callable[..., Report]


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a clip of 60 frames and a keyframe every 20."""
    folder = tmp_path_factory.mktemp("material")
    jobs.talking_clip(folder / "talking.mp4", seconds=2.4)
    return folder


@pytest.fixture
def workshop(runner: Runner) -> Workshop:
    return runner.workshop("auto", "auto")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The trust folder of a test."""
    return tmp_path / "trust"


@pytest.fixture
def run(workshop: Workshop, folder: Path) -> RunWith:
    """Do a job under a policy of these fields."""

    def run(recipe: Recipe, permit: Callable[[], None] | None = None, **asked) -> Report:
        policy = Policy(path=Path("p.toml"), folder=folder, **asked)
        return run_job(recipe, workshop, progress=lambda _: None, cancelled=lambda: False, policy=policy, permit=permit)

    return run


@pytest.fixture
def green_gate(workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that refuses green."""
    put_in_place(green_classifier(tmp_path / "green.onnx"), monkeypatch)
    monkeypatch.setattr(workshop, "classifiers", InstalledClassifiers())


@pytest.fixture
def store(folder: Path) -> ConsentStore:
    return ConsentStore(folder)


def save(pixels: NDArray[np.uint8], path: Path) -> Path:
    Image.fromarray(pixels).save(path)
    return path


def nothing_is_left(output: Path) -> bool:
    return not output.exists() and not checkpoint_folder(output).exists()


def record_of(picture: str, kind: str = "consent", **fields) -> FaceRecord:
    return FaceRecord.make(kind, "somebody", (jobs.identity(picture),), **fields)


def late_guest(path: Path) -> Path:
    """Ten frames of Grace Hopper, then ten of Luis."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10, options={"crf": "14"})
        stream.width, stream.height, stream.pix_fmt = 320, 320, "yuv420p"
        for name in (jobs.HOPPER, jobs.LUIS):
            pixels = cv2.resize(jobs.rgb(name), (320, 320), interpolation=cv2.INTER_AREA)
            for _ in range(10):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path


class TestContent:
    def test_what_is_looked_at_is_reported(self, run: RunWith, tmp_path: Path) -> None:
        content = run(jobs.job(jobs.HOPPER, tmp_path / "out.png")).content
        assert content is not None
        assert (content.classifiers, content.sources, content.target, content.result, content.refused) == (
            *(["nsfwjs_mobilenet_v2"], 1, 1, 1, 0),
        )

    @pytest.mark.usefixtures("green_gate")
    def test_a_source_is_refused(self, run: RunWith, tmp_path: Path) -> None:
        source = save(plain(GREEN), tmp_path / "me.png")
        with pytest.raises(ContentRefused, match=r"me.png is refused: it shows sexual content"):
            run(jobs.job(jobs.HOPPER, tmp_path / "out.png", sources=[jobs.ASTRONAUT, str(source)]))
        assert nothing_is_left(tmp_path / "out.png")

    @pytest.mark.usefixtures("green_gate")
    def test_a_picture_is_refused(self, run: RunWith, tmp_path: Path) -> None:
        target = save(plain(GREEN), tmp_path / "target.png")
        with pytest.raises(ContentRefused, match=r"target.png is refused: it shows sexual content") as refusal:
            run(jobs.job(target, tmp_path / "out.png", allow_no_face=True))
        assert (refusal.value.exit_code, refusal.value.problem, refusal.value.times_s) == (3, "content_refused", ())
        assert nothing_is_left(tmp_path / "out.png")

    @pytest.mark.usefixtures("green_gate")
    def test_a_video_is_refused_with_the_times(self, run: RunWith, tmp_path: Path) -> None:
        target = coloured_clip(tmp_path / "target.mp4", [GREY, GREY, GREEN, GREY, GREEN, GREY])
        with pytest.raises(ContentRefused, match=r"4 of 12 frames looked at show sexual content") as refusal:
            run(jobs.job(target, tmp_path / "out.mp4", allow_no_face=True))
        assert [int(time) for time in refusal.value.times_s] == [2, 2, 4, 4]
        assert nothing_is_left(tmp_path / "out.mp4")

    @pytest.mark.usefixtures("green_gate")
    @pytest.mark.parametrize("share", [0.0, 0.1])
    def test_one_second_of_a_longer_video_is_seen_and_the_share_decides(
        self, run: RunWith, tmp_path: Path, share: float
    ) -> None:
        target = coloured_clip(
            tmp_path / "target.mp4", [GREEN if second == 12 else GREY for second in range(14)], rate=4
        )
        recipe = jobs.job(target, tmp_path / "out.mp4", allow_no_face=True)
        if share == 0:
            with pytest.raises(ContentRefused) as refusal:
                run(recipe, gate_share=share)
            assert {int(time) for time in refusal.value.times_s} == {12}
            assert nothing_is_left(tmp_path / "out.mp4")
            return
        content = run(recipe, gate_share=share).content
        assert content is not None
        assert (content.target, content.result, content.refused) == (14, 14, 1)

    @pytest.mark.usefixtures("green_gate")
    def test_an_animation_is_refused(self, run: RunWith, tmp_path: Path) -> None:
        frames = [Image.fromarray(plain(colour)) for colour in (GREY, GREEN, GREY, GREEN)]
        frames[0].save(tmp_path / "target.gif", save_all=True, append_images=frames[1:], duration=500)
        with pytest.raises(ContentRefused, match=r"target\.gif is refused"):
            run(jobs.job(tmp_path / "target.gif", tmp_path / "out.gif", allow_no_face=True))
        assert nothing_is_left(tmp_path / "out.gif")

    def test_a_result_is_refused(
        self, run: RunWith, workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Source and target pass; the third picture looked at is the result."""

        class Third:
            name = "third"
            looks = 0
            sessions = ()

            def load(self) -> list[Third]:
                return [self]

            def score(self, picture: NDArray[np.uint8]) -> float:
                del picture
                self.looks += 1
                return float(self.looks == 3)

        third = Third()
        monkeypatch.setattr(workshop, "classifiers", third)
        source = save(jobs.rgb(jobs.ASTRONAUT)[:-1], tmp_path / "new.png")  # Not one looked at before.
        with pytest.raises(ContentRefused, match=r"the result for .* is refused"):
            run(jobs.job(jobs.HOPPER, tmp_path / "out.png", sources=[str(source)]))
        assert third.looks == 3
        assert nothing_is_left(tmp_path / "out.png")

    @pytest.mark.usefixtures("green_gate")
    def test_a_recipe_may_turn_it_off_and_the_report_says_so(self, run: RunWith, tmp_path: Path) -> None:
        target = save(plain(GREEN), tmp_path / "target.png")
        recipe = jobs.job(target, tmp_path / "out.png", allow_no_face=True, gate="off")
        with pytest.raises(PolicyError, match=r"gate = off is refused: p\.toml asks for on"):
            run(recipe, gate="on")
        assert run(recipe).content is None

    def test_a_classifier_that_cannot_be_loaded_refuses_everything(
        self, run: RunWith, workshop: Workshop, material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "none.onnx").write_bytes(b"no network")
        put_in_place(tmp_path / "none.onnx", monkeypatch)
        monkeypatch.setattr(workshop, "classifiers", InstalledClassifiers())
        for recipe in (
            jobs.job(jobs.HOPPER, tmp_path / "out.png"),
            jobs.talking_job(material, tmp_path / "out.mp4"),
        ):
            with pytest.raises(ContentRefused, match="the content gate cannot look at anything, so all is refused"):
                run(recipe)
            assert nothing_is_left(Path(recipe.output))


class TestConsent:
    def test_a_job_with_the_right_consent_is_done_and_says_so(
        self, run: RunWith, store: ConsentStore, tmp_path: Path
    ) -> None:
        consent = record_of(jobs.ASTRONAUT, scope=("film",))
        store.add(consent)
        recipe = jobs.job(jobs.HOPPER, tmp_path / "out.png", consent=consent.id, purpose="film")
        report = run(recipe, consent="required")
        assert (report.consents, report.purpose, report.policy) == ([consent.id], "film", "p.toml")
        permitted = [entry for entry in store.audit.entries() if entry.event == "job.permitted"]
        assert [entry.facts for entry in permitted] == [{"consents": [consent.id]}]

    def test_a_job_without_one_is_refused_where_one_is_required(self, run: RunWith, tmp_path: Path) -> None:
        recipe = jobs.job(jobs.HOPPER, tmp_path / "out.png")
        with pytest.raises(PolicyError, match=r"names no consent, which p.toml asks for"):
            run(recipe, consent="required")
        assert run(recipe).consents == []

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"consent": "consent-0"}, "there is no record 'consent-0'"),
            ({"consent": "../key"}, "is no id of a record"),
            ({"sources": [jobs.LUIS]}, "is not the one that consented"),
            ({"purpose": "ad"}, "is for film, not for 'ad'"),
        ],
    )
    def test_a_consent_that_does_not_fit(
        self, run: RunWith, store: ConsentStore, tmp_path: Path, fields: dict, said: str
    ) -> None:
        consent = record_of(jobs.ASTRONAUT, scope=("film",))
        store.add(consent)
        given = {"consent": consent.id, "purpose": "film", **fields}
        with pytest.raises(ConsentError, match=said):
            run(jobs.job(jobs.HOPPER, tmp_path / "out.png", **given))
        assert nothing_is_left(tmp_path / "out.png")

    def test_each_person_of_a_map_needs_one(self, run: RunWith, store: ConsentStore, tmp_path: Path) -> None:
        target = jobs.couple(tmp_path / "couple.png")
        astronaut, luis = record_of(jobs.ASTRONAUT), record_of(jobs.LUIS)
        store.add(astronaut)
        store.add(luis)
        pairs = [
            {"sources": [jobs.ASTRONAUT], "reference": jobs.LUIS},
            {"sources": [jobs.LUIS], "reference": jobs.HOPPER},
        ]
        fields = {"target": str(target), "output": str(tmp_path / "out.png"), "map": pairs}
        with pytest.raises(ConsentError, match="is not the one that consented"):
            run(Recipe.from_mapping({**fields, "consent": astronaut.id}))
        report = run(Recipe.from_mapping({**fields, "consent": f"{astronaut.id},{luis.id}"}))
        assert report.consents == [astronaut.id, luis.id]

    def test_revoking_stops_a_job_at_its_next_segment(
        self, run: RunWith, store: ConsentStore, material: Path, tmp_path: Path
    ) -> None:
        consent = record_of(jobs.ASTRONAUT)
        store.add(consent)
        output, asked = tmp_path / "out.mp4", list[bool]()

        def revoke_before_the_second_segment() -> None:
            # Asked before the job, when the faces are known, and before each segment.
            asked.append(checkpoint_folder(output).exists())
            if len(asked) == 4:
                store.revoke(consent.id)

        with pytest.raises(ConsentError, match=f"the consent {consent.id} is revoked"):
            run(jobs.talking_job(material, output, consent=consent.id), revoke_before_the_second_segment)
        assert len(asked) == 4
        assert nothing_is_left(output)
        assert [entry.event for entry in store.audit.entries()] == [
            *("consent.added", "job.permitted", "consent.revoked", "job.refused")
        ]

    def test_whoever_runs_a_job_may_stop_it(self, run: RunWith, material: Path, tmp_path: Path) -> None:
        asked = list[int]()

        def permit() -> None:
            asked.append(1)
            if len(asked) == 5:
                raise PolicyError("no longer")

        with pytest.raises(PolicyError, match="no longer"):
            run(jobs.talking_job(material, tmp_path / "out.mp4"), permit)
        assert nothing_is_left(tmp_path / "out.mp4")

    @pytest.mark.parametrize("who", ["source", "target"])
    def test_a_barred_face_is_never_used(self, run: RunWith, store: ConsentStore, tmp_path: Path, who: str) -> None:
        bar = record_of(jobs.ASTRONAUT if who == "source" else jobs.HOPPER, "barred")
        consent = record_of(jobs.ASTRONAUT)
        store.add(bar)
        store.add(consent)
        recipe = jobs.job(jobs.HOPPER, tmp_path / "out.png", consent=consent.id)
        with pytest.raises(ConsentError, match=rf"a face of the {who} is barred .*{bar.id}"):
            run(recipe)
        assert nothing_is_left(tmp_path / "out.png")
        store.revoke(bar.id)
        assert run(recipe).faces == 1

    def test_a_barred_face_that_appears_late_ends_a_video(
        self, run: RunWith, store: ConsentStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The survey sees only the first frame, in which nobody is barred."""
        monkeypatch.setattr(video_job, "LOOKS", 1)
        monkeypatch.setattr(survey, "spread", lambda _length, _count: [0])
        bar = record_of(jobs.LUIS, "barred")
        store.add(bar)
        target = late_guest(tmp_path / "target.mp4")
        with pytest.raises(ConsentError, match=rf"a face of the target is barred .*{bar.id}"):
            run(jobs.job(target, tmp_path / "out.mp4"))
        assert nothing_is_left(tmp_path / "out.mp4")

    def test_a_stream_asks_as_well(self, store: ConsentStore, folder: Path) -> None:
        bar = record_of(jobs.ASTRONAUT, "barred")
        store.add(bar)
        with pytest.raises(ConsentError, match="a face of the source is barred"):
            Swapper(jobs.ASTRONAUT, policy=Policy(folder=folder))


class TestStream:
    @pytest.fixture(autouse=True)
    def one_frame_a_second(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ticks = itertools.count()
        monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))

    @pytest.fixture
    def face(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NDArray[np.uint8]:
        """A frame that passes a gate that refuses green."""
        put_in_place(green_classifier(tmp_path / "green.onnx"), monkeypatch)
        return jobs.rgb(jobs.HOPPER)

    def test_it_ends_with_what_is_refused_and_begins_anew_when_told(
        self, face: NDArray[np.uint8], folder: Path
    ) -> None:
        with Swapper(jobs.ASTRONAUT, policy=Policy(folder=folder)) as swapper:
            assert swapper.frame(face).shape == face.shape
            for frame in (plain(GREEN), face):
                with pytest.raises(ContentRefused, match="the stream is refused"):
                    swapper.frame(frame)
            swapper.reset()
            assert swapper.frame(face).shape == face.shape

    def test_it_ends_when_the_consent_does(self, face: NDArray[np.uint8], folder: Path, store: ConsentStore) -> None:
        consent = record_of(jobs.ASTRONAUT)
        store.add(consent)
        with Swapper(jobs.ASTRONAUT, consent=consent.id, policy=Policy(folder=folder)) as swapper:
            swapper.frame(face)
            store.revoke(consent.id)
            with pytest.raises(ConsentError, match="is revoked"):
                swapper.frame(face)

    def test_it_is_refused_where_marks_are_asked_for(self, face: NDArray[np.uint8], folder: Path) -> None:
        swapper = Swapper(jobs.ASTRONAUT, policy=Policy(path=Path("p.toml"), marks="metadata", folder=folder))
        with swapper, pytest.raises(PolicyError, match=r"they carry no marks, which p\.toml asks for"):
            swapper.frame(face)


class TestAtRest:
    def test_without_a_place_for_a_key_a_video_is_done_all_the_same(
        self, run: RunWith, folder: Path, material: Path, tmp_path: Path
    ) -> None:
        folder.write_text("a file in the way")
        report = run(jobs.talking_job(material, tmp_path / "out.mp4", end="10f"))
        assert any("an interrupted job cannot be resumed" in warning for warning in report.warnings)
        assert report.frames == 10

    def test_embeddings_are_kept_only_where_the_policy_says_so(self, folder: Path, tmp_path: Path) -> None:
        for policy, kept in ((Policy(folder=folder), 0), (Policy(folder=folder, embedding_cache="on"), 1)):
            with Runner(policy) as runner:
                runner.run(jobs.job(jobs.HOPPER, tmp_path / "out.png", overwrite=True))
            assert len(list(folder.glob("embeddings/*"))) == kept


class TestLocks:
    def test_a_result_too_small_for_the_watermark_is_refused_where_it_is_asked_for(
        self, run: RunWith, tmp_path: Path
    ) -> None:
        with Image.open(jobs.HOPPER) as image:
            image.convert("RGB").resize((60, 76)).save(tmp_path / "small.png")
        recipe = jobs.job(tmp_path / "small.png", tmp_path / "out.png", marks="all")
        with pytest.raises(PolicyError, match=r"cannot carry a watermark, which p\.toml asks for"):
            run(recipe, marks="all")
        assert nothing_is_left(tmp_path / "out.png")
        assert run(recipe).marks.watermark is None

    def test_a_policy_decides_what_networks_may_be_for(self, run: RunWith, tmp_path: Path) -> None:
        recipe = jobs.job(jobs.HOPPER, tmp_path / "out.png", swapper="inswapper_128")
        with pytest.raises(PolicyError, match="inswapper_128 is refused: its licence"):
            run(recipe, licence_profile="commercial")
