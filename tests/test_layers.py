"""Imports point down only; the check that says so catches what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_layers

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def rules():
    return check_layers.Rules.load()


def plant(folder: Path, name: str, text: str) -> Path:
    """A source tree that holds one module, `name` as in `mien.media.video`."""
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return folder


def test_the_package_keeps_its_layers(rules) -> None:
    assert check_layers.check(ROOT / "src", rules) == []


def test_every_package_has_a_layer(rules) -> None:
    names = {path.stem for path in (ROOT / "src" / "mien").iterdir() if path.suffix in ("", ".py")}
    assert names - {"__init__", "py", "__pycache__"} <= {name for layer in rules.layers for name in layer}


@pytest.mark.parametrize(
    "text",
    [
        "import mien.pipeline.plan\n",
        "from mien.pipeline import plan\n",
        "from mien import pipeline\n",
        "from ..pipeline import plan\n",
        "from ..pipeline.plan import Plan\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mien.pipeline.plan import Plan\n",
        "def late():\n    import mien.pipeline\n",
    ],
)
def test_an_import_upwards_is_caught(tmp_path: Path, rules, text: str) -> None:
    (problem,) = check_layers.check(plant(tmp_path, "mien.media.video", text), rules)
    assert "'media' imports 'pipeline', a layer above it" in problem
    assert f"video.py:{text.count(chr(10))}:" in problem


@pytest.mark.parametrize(
    "text", ["from mien.engine import session\n", "from mien.errors import MediaError\n", "from . import frame\n"]
)
def test_imports_downwards_and_sideways_are_fine(tmp_path: Path, rules, text: str) -> None:
    assert check_layers.check(plant(tmp_path, "mien.media.video", text), rules) == []


@pytest.mark.parametrize(
    ("module", "text", "allowed"),
    [
        ("mien.media.video", "import av\n", True),
        ("mien.media.video", "from av.video import frame\n", True),
        ("mien.edit.swap", "import av\n", False),
        ("mien.edit.swap", "def late():\n    from av.video import frame\n", False),
        ("mien.engine.openvino", "import openvino as ov\n", True),
        ("mien.faces.analyser", "import openvino.opset8\n", False),
        ("mien.faces.analyser", "import average\n", True),
    ],
)
def test_a_stack_belongs_to_its_adapters(tmp_path: Path, rules, module: str, text: str, allowed: bool) -> None:
    found = check_layers.check(plant(tmp_path, module, text), rules)
    assert (found == []) is allowed


def test_a_module_outside_the_layers_is_caught(tmp_path: Path, rules) -> None:
    (problem,) = check_layers.check(plant(tmp_path, "mien.helpers.misc", "\n"), rules)
    assert "'helpers' is in no layer" in problem


def test_a_long_module_is_caught(tmp_path: Path, rules) -> None:
    (problem,) = check_layers.check(plant(tmp_path, "mien.media.video", "x = 1\n" * 401), rules)
    assert "401 lines, at most 400" in problem
