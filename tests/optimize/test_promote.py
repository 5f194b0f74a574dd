"""Which artefacts take their parent's place."""

from dataclasses import replace
from pathlib import Path

import pytest

from mien.engine.device import find_device
from mien.errors import MienError, ModelError, PolicyError, UsageError
from mien.models.checksum import checksum_of
from mien.models.store import ModelStore
from mien.optimize.card import Card, Cost, Parent, write_card
from mien.optimize.gate import Verdict
from mien.optimize.intervals import Interval
from mien.optimize.promote import promote
from optimize.nets import planted

PARENT = Parent("studio", "arcface", "recogniser", "0" * 64, 1000, "contract 17", "commercial")


@pytest.fixture(autouse=True)
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIEN_REGISTER", str(tmp_path / "models.toml"))


def made(folder: Path, **changes) -> Path:
    """A network with its card, passed on this machine unless something else is said."""
    path = planted(folder / "made.onnx", loud=1)
    card = Card(
        file=path.name,
        sha256=checksum_of(path, "sha256"),
        bytes=path.stat().st_size,
        parent=PARENT,
        technique="int8",
        settings={},
        calibration="0" * 64,
        parameters=1,
        operations=1,
        device=f"cpu ({find_device('cpu').full_name}), engine 1",
        cost=Cost(1.0, None),
        parent_cost=Cost(2.0, None),
        speed=Interval(2, 2, 2),
        metrics=(),
        verdict=Verdict("passed", ("good",)),
        made="2026-01-01",
    )
    write_card(replace(card, **changes), path)
    return path


def test_what_passed_is_what_its_parents_id_names(tmp_path: Path):
    path = made(tmp_path)
    promote(path)
    located = ModelStore.of_user().locate("studio")
    assert located.path == path
    assert located.verified
    assert (located.entry.licence, located.entry.permits) == ("contract 17", "commercial")


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"verdict": Verdict("refused", ("cosine .9",))}, PolicyError, "refused, cosine .9; it can be used by a name"),
        ({"verdict": Verdict("does not pay", ("slower",))}, PolicyError, "does not pay, slower"),
        ({"parent": replace(PARENT, model="dlib_face_recognition")}, UsageError, "comes with mien"),
        ({"device": "cpu (another), engine 1"}, UsageError, "was measured on cpu"),
        ({"sha256": "1" * 64}, ModelError, "is not the file that its card tells of"),
    ],
)
def test_what_did_not_does_not(tmp_path: Path, changes: dict, error: type[MienError], words: str):
    with pytest.raises(error, match=words):
        promote(made(tmp_path, **changes))
    assert "studio" not in ModelStore.of_user().entries


def test_what_has_no_card_does_not(tmp_path: Path):
    path = made(tmp_path)
    path.with_suffix(".card.json").unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        promote(path)
