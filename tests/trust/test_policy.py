"""What a policy file may say, what it adds to recipes and what it refuses."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from mien.errors import PolicyError
from mien.recipe import Recipe
from mien.trust.places import POLICY_VARIABLE, TRUST_VARIABLE, policy_file
from mien.trust.policy import Policy

PLAIN = {"target": "clip.mp4", "output": "out.mp4", "sources": ("a.jpg",)}
FULL = """\
marks = "all"
label = "en"
consent = "required"
gate = "on"
gate_threshold = 0.7
gate_share = 0
gate_votes = 2
licence_profile = "commercial"
retention_days = 7
embedding_cache = "on"
folder = "trust"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mien.policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No settings but those that a test makes."""
    monkeypatch.delenv(POLICY_VARIABLE, raising=False)
    monkeypatch.delenv(TRUST_VARIABLE, raising=False)
    for name in ("XDG_CONFIG_HOME", "APPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "settings"))
    return tmp_path / "settings"


class TestFile:
    def test_every_key_is_read(self, tmp_path: Path) -> None:
        policy = Policy.load(write(tmp_path, FULL))
        assert policy == Policy(
            path=tmp_path / "mien.policy.toml",
            marks="all",
            label="en",
            consent="required",
            gate="on",
            gate_threshold=0.7,
            gate_share=0,
            gate_votes=2,
            licence_profile="commercial",
            retention_days=7,
            embedding_cache="on",
            folder=tmp_path / "trust",
        )

    def test_without_a_file_recipes_decide(self) -> None:
        recipe = Recipe(**PLAIN, marks="none", gate="off")
        assert Policy.find().apply(recipe) == recipe

    def test_the_given_file_wins_over_the_variable_and_that_over_the_settings(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        policy_file().parent.mkdir(parents=True)
        policy_file().write_text("retention_days = 1")
        assert Policy.find().retention_days == 1
        named = tmp_path / "named.toml"
        named.write_text("retention_days = 2")
        monkeypatch.setenv(POLICY_VARIABLE, str(named))
        assert Policy.find().retention_days == 2
        assert Policy.find(write(tmp_path, "retention_days = 3")).retention_days == 3

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("mark = 'all'", "there is no key 'mark': there are marks, label"),
            ("marks = 'none'", "marks = 'none': give metadata or all"),
            ("label = 'fr'", "label = 'fr': give en or zh"),
            ("consent = true", "consent = True: give required"),
            ("gate = 'off'", "gate = 'off': give on"),
            ("gate_threshold = 2", "gate_threshold = 2: give a number from 0 to 1"),
            ("gate_share = nan", "gate_share = nan: give a number"),
            ("gate_votes = 0", "gate_votes = 0: give a whole number"),
            ("gate_votes = true", "gate_votes = True: give a whole number"),
            ("licence_profile = 'mine'", "licence_profile = 'mine': give any or"),
            ("retention_days = 0.5", "retention_days = 0.5: give a whole number of days"),
            ("folder = ''", "folder = '': give the path"),
            ("marks = all", "is no TOML"),
        ],
    )
    def test_what_makes_no_sense_refuses_everything(self, tmp_path: Path, text: str, said: str) -> None:
        path = write(tmp_path, text)
        with pytest.raises(PolicyError) as refusal:
            Policy.find(path)
        assert said in str(refusal.value)
        assert str(path) in str(refusal.value)

    def test_a_policy_that_is_named_but_missing_refuses_everything(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(POLICY_VARIABLE, str(tmp_path / "gone.toml"))
        with pytest.raises(PolicyError, match=r"gone.toml cannot be read .*: no job is done without it"):
            Policy.find()

    def test_a_policy_in_another_encoding_refuses_everything(self, tmp_path: Path) -> None:
        path = tmp_path / "p.toml"
        path.write_bytes(b"folder = '\xff'")
        with pytest.raises(PolicyError, match="no TOML in UTF-8"):
            Policy.load(path)


def test_every_key_is_explained() -> None:
    text = (Path(__file__).parents[2] / "docs" / "trust.md").read_text(encoding="utf-8")
    assert {field.name for field in dataclasses.fields(Policy)} - {"path"} == set(
        re.findall(r"^\| `(\w+)` \|", text, re.M)
    )


MARKS = {"marks": "metadata"}
COMMERCIAL = {"licence_profile": "commercial"}


@pytest.mark.parametrize(
    ("asked", "given", "becomes"),
    [
        (MARKS, {"marks": "all"}, {"marks": "all"}),
        (MARKS, {"marks": "metadata"}, {"marks": "metadata"}),
        ({"label": "zh"}, {}, {"label": "zh"}),
        ({"label": "zh"}, {"label": "en"}, {"label": "en"}),
        ({"gate": "on"}, {}, {"gate": "on"}),
        (COMMERCIAL, {}, COMMERCIAL),
        ({"licence_profile": "non-commercial"}, COMMERCIAL, COMMERCIAL),
        ({"consent": "required"}, {"consent": "c-1"}, {"consent": "c-1"}),
    ],
)
def test_what_a_recipe_becomes(asked: dict, given: dict, becomes: dict) -> None:
    policy = Policy(path=Path("p.toml"), **asked)
    assert policy.apply(Recipe(**PLAIN, **given)) == Recipe(**PLAIN, **{**given, **becomes})


@pytest.mark.parametrize(
    ("asked", "output", "fits"),
    [
        (None, "out.bmp", True),
        ("metadata", "out.bmp", False),
        ("metadata", "out.gif", True),
        ("all", "out.gif", False),
        ("all", "out.mp4", True),
        ("all", "out.ts", False),
    ],
)
def test_a_kind_of_file_that_cannot_carry_the_marks_is_refused(asked: Any, output: str, fits: bool) -> None:
    policy, recipe = Policy(path=Path("p.toml"), marks=asked), Recipe(**{**PLAIN, "output": output})
    if fits:
        policy.check_output(recipe)
        return
    with pytest.raises(PolicyError, match=rf"{output} is refused: .* cannot carry the marks \({asked}\)"):
        policy.check_output(recipe)


@pytest.mark.parametrize(
    ("asked", "given", "said"),
    [
        ({"marks": "all"}, {"marks": "metadata"}, "marks = metadata is refused: p.toml asks for all"),
        ({"gate": "on"}, {"gate": "off"}, "gate = off is refused: p.toml asks for on"),
        (COMMERCIAL, {"licence_profile": "non-commercial"}, "p.toml asks for commercial"),
        ({"consent": "required"}, {}, "the job names no consent, which p.toml asks for"),
    ],
)
def test_a_recipe_that_asks_for_less_is_refused(asked: dict, given: dict, said: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        Policy(path=Path("p.toml"), **asked).apply(Recipe(**PLAIN, **given))
    assert said in str(refusal.value)
    assert (refusal.value.exit_code, refusal.value.problem) == (3, "policy_refused")
