"""Checkpoints: what fits is used again, what does not is a clear error, nothing is half there."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from mien.errors import UnreadableError, UnwritableError, UsageError
from mien.pipeline.checkpoint import Identity, checkpoint_folder, open_checkpoint
from mien.recipe import PersonMap, Recipe


@dataclass(frozen=True)
class _Part:
    number: int


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    for name, content in {"face.png": b"face", "other.png": b"other", "clip.mp4": b"x" * 5000}.items():
        (tmp_path / name).write_bytes(content)
    return Recipe(
        target=str(tmp_path / "clip.mp4"), output=str(tmp_path / "out.mp4"), sources=(str(tmp_path / "face.png"),)
    )


def _identity(recipe: Recipe, encoding: object = "x264", version: str = "1") -> Identity:
    return Identity.of(recipe, encoding, version)


def test_finished_segments_are_there_after_resuming(recipe: Recipe) -> None:
    checkpoint, discarded = open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    assert not discarded
    checkpoint.save_counts(_Part(2), {"frames": 25})
    assert not checkpoint.is_finished(_Part(2))
    checkpoint.packets_path(_Part(2)).write_bytes(b"packets")

    again, _ = open_checkpoint(Path(recipe.output), _identity(recipe), resume=True)
    assert again.is_finished(_Part(2))
    assert not again.is_finished(_Part(1))
    assert again.load_counts(_Part(2)) == {"frames": 25}


def test_without_resume_it_starts_anew_and_says_what_was_lost(recipe: Recipe) -> None:
    checkpoint, _ = open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    checkpoint.packets_path(_Part(0)).write_bytes(b"packets")
    anew, discarded = open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    assert discarded
    assert not anew.is_finished(_Part(0))


def test_resume_without_anything_to_resume_starts(recipe: Recipe) -> None:
    checkpoint, discarded = open_checkpoint(Path(recipe.output), _identity(recipe), resume=True)
    assert not discarded
    assert checkpoint.folder.is_dir()


def test_removed_after_success(recipe: Recipe) -> None:
    checkpoint, _ = open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    checkpoint.remove()
    assert not checkpoint_folder(Path(recipe.output)).exists()


def test_what_does_not_change_the_packets_does_not_matter(recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "copy.png").write_bytes((tmp_path / "face.png").read_bytes())
    same = dataclasses.replace(
        recipe,
        sources=(str(tmp_path / "copy.png"),),
        resume=True,
        overwrite=True,
        price_per_hour=3.0,
        audio="none",
        allow_no_face=True,
    )
    assert _identity(same) == _identity(recipe)


@pytest.mark.parametrize(
    "change",
    [
        {"shape": 0.5},
        {"faces": "largest"},
        {"start": "1"},
        {"segment_seconds": 4.0},
        {"reference": "other.png"},
        {"sources": ("other.png",)},
        {"sources": (), "map": (PersonMap(("face.png",), "other.png"),)},
        {"precision": "fp32"},
    ],
    ids=str,
)
def test_another_recipe_is_refused(
    recipe: Recipe, change: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    with pytest.raises(UsageError, match=r"another recipe.*leave out 'resume'"):
        open_checkpoint(Path(recipe.output), _identity(dataclasses.replace(recipe, **change)), resume=True)


def test_a_source_picture_with_new_content_is_refused(recipe: Recipe, tmp_path: Path) -> None:
    open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    (tmp_path / "face.png").write_bytes(b"new face")
    with pytest.raises(UsageError, match="source pictures"):
        open_checkpoint(Path(recipe.output), _identity(recipe), resume=True)


@pytest.mark.parametrize("place", ["head", "tail", "size", "time"])
def test_a_changed_target_is_refused(recipe: Recipe, place: str) -> None:
    target = Path(recipe.target)
    state = target.stat()
    open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    content = bytearray(target.read_bytes())
    if place == "head":
        content[0] = 1
    elif place == "tail":
        content[-1] = 1
    elif place == "size":
        content += b"y"
    target.write_bytes(content)
    changed = state.st_mtime_ns + (10**9 if place == "time" else 0)
    os.utime(target, ns=(state.st_atime_ns, changed))
    with pytest.raises(UsageError, match="the target has changed"):
        open_checkpoint(Path(recipe.output), _identity(recipe), resume=True)


def test_other_encoder_or_version_is_refused(recipe: Recipe) -> None:
    open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    with pytest.raises(UsageError, match="encoder settings"):
        open_checkpoint(Path(recipe.output), _identity(recipe, encoding="x265"), resume=True)
    with pytest.raises(UsageError, match="version of mien"):
        open_checkpoint(Path(recipe.output), _identity(recipe, version="2"), resume=True)


def test_a_damaged_manifest_is_a_clear_error(recipe: Recipe) -> None:
    checkpoint, _ = open_checkpoint(Path(recipe.output), _identity(recipe), resume=False)
    (checkpoint.folder / "manifest.json").write_text("{")
    with pytest.raises(UsageError, match="leave out 'resume'"):
        open_checkpoint(Path(recipe.output), _identity(recipe), resume=True)


def test_a_missing_picture_is_named(recipe: Recipe) -> None:
    with pytest.raises(UnreadableError, match=r"nowhere\.png"):
        _identity(dataclasses.replace(recipe, sources=("nowhere.png",)))


def test_a_folder_that_cannot_be_made_is_a_clear_error(recipe: Recipe, tmp_path: Path) -> None:
    output = tmp_path / "missing" / "out.mp4"
    with pytest.raises(UnwritableError, match="cannot keep the parts"):
        open_checkpoint(output, _identity(recipe), resume=False)
