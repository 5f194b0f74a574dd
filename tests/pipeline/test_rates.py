"""Plans go by what earlier runs have measured."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from mien.pipeline import rates
from mien.pipeline.api import plan, run
from mien.report import ModelUse
from support import field, jobs


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def use(model: str, items: int, seconds: float) -> ModelUse:
    return ModelUse(model, "openvino", "cpu (some)", "fp32", items, items, seconds)


def test_the_latest_run_counts() -> None:
    assert rates.measured() == {}
    rates.remember([use("a", 10, 1.0), use("b", 20, 1.0)])
    rates.remember([use("a", 10, 3.0), use("b", 2, 1.0), use("c", 0, 0.0)])
    name = rates.key("a", "cpu (some)", "fp32")
    assert rates.measured() == {name: 0.3, rates.key("b", "cpu (some)", "fp32"): 0.05}


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": "x"}', '{"a": null}'])
def test_a_damaged_file_is_nothing(cache: Path, content: str) -> None:
    cache.mkdir()
    (cache / "network_seconds.json").write_text(content)
    assert rates.measured() == {}
    rates.remember([use("a", 10, 1.0)])
    assert len(rates.measured()) == 1


def test_a_folder_that_takes_nothing_does_no_harm(cache: Path) -> None:
    cache.write_text("a file")
    rates.remember([use("a", 10, 1.0)])
    assert rates.measured() == {}


def test_a_plan_says_what_it_goes_by(tmp_path: Path) -> None:
    models = field.write_networks(tmp_path / "models")
    clip = jobs.talking_clip(tmp_path / "clip.mp4", seconds=0.4)
    recipe = jobs.job(clip, tmp_path / "out.mp4", swapper="inswapper_128", models=[str(models)], precision="fp32")
    before = plan(recipe)
    assert before.guessed == ("inswapper_128", "arcface_w600k_r50")
    assert "inswapper_128, arcface_w600k_r50 takes here is guessed" in dict(before.rows())["time"]
    report = run(recipe)
    (swapper,) = [one for one in report.models if one.model == "inswapper_128"]
    after = plan(dataclasses.replace(recipe, output=str(tmp_path / "other.mp4")))
    assert after.guessed == ("arcface_w600k_r50",), "it ran once, which tells nothing"
    guessed = 10 * 174e9 / 1e11
    expected = before.estimated_seconds - guessed + 10 * swapper.seconds / swapper.items
    assert after.estimated_seconds == pytest.approx(expected, rel=0.15)
