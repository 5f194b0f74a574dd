"""The documents name what is there: every recipe field, only commands that are understood, only files that exist."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import readme_figures
from mien.cli import find_command
from mien.recipe import Recipe

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tools/**/*.md")])


def code_blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shown_commands() -> list[tuple[str, str]]:
    return [
        (path.name, line)
        for path in DOCUMENTS
        for block in code_blocks(path.read_text(encoding="utf-8"), "")
        for line in block.splitlines()
        if line.startswith("mien ")
    ]


def test_commands_are_shown() -> None:
    assert {line.split()[1] for _, line in shown_commands()} >= {"swap", "faces", "compare", "doctor"}


@pytest.mark.parametrize(("document", "line"), shown_commands())
def test_a_shown_command_is_understood(document: str, line: str) -> None:
    call = find_command(shlex.split(line, comments=True)[1:])
    assert call.command is not None, f"{document} shows {line}"
    parser = argparse.ArgumentParser(exit_on_error=False)
    call.command.add_arguments(parser)
    parser.parse_intermixed_args(call.arguments)


@pytest.mark.parametrize(
    ("document", "block"),
    [(path.name, block) for path in DOCUMENTS for block in code_blocks(path.read_text(encoding="utf-8"), "python")],
)
def test_shown_python_compiles(document: str, block: str) -> None:
    compile(block, document, "exec")


def test_the_shown_recipe_is_one() -> None:
    (block,) = code_blocks((ROOT / "docs" / "recipes.md").read_text(encoding="utf-8"), "toml")
    assert len(Recipe.from_mapping(tomllib.loads(block)).map) == 2


def as_written(default: object) -> str:
    """A default as TOML has it."""
    return json.dumps(default).strip('"').removesuffix(".0")


@pytest.mark.parametrize("field", dataclasses.fields(Recipe), ids=lambda field: field.name)
def test_every_recipe_field_is_documented_with_its_default(field: dataclasses.Field[object]) -> None:
    text = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{field.name}` \|.*$", text, re.MULTILINE)
    written = row.split("|")[3].strip(" `")
    if field.default is dataclasses.MISSING:
        assert written == "must be given"
    elif field.name == "mask_padding":
        assert written == ",".join(str(percent) for percent in field.default)
    elif field.name in ("effects", "mask"):
        assert (written,) == field.default
    elif field.default not in (None, ()):
        assert written == as_written(field.default)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (document.parent / link).exists(), f"{document.name} links to {link}"


def test_the_figures_of_the_readme_are_those_of_the_benchmarks() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme_figures.replaced(text) == text
