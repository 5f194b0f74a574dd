"""From what a user names as target and output to one job for each file."""

from __future__ import annotations

import glob
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mien.errors import UnreadableError, UnwritableError, UsageError
from mien.recipe import Recipe


def means_many(target: str) -> bool:
    """Whether `target` is a folder or a pattern. A file whose own name looks like a pattern is that file."""
    path = Path(target)
    return path.is_dir() or (glob.has_magic(target) and not path.exists())


def expand_sources(recipe: Recipe) -> Recipe:
    """Patterns among the source pictures replaced by the files they match, in order of name.

    Raises:
        UnreadableError: a pattern matches no file.
    """
    sources: list[str] = []
    for source in recipe.sources:
        sources += [str(path) for path in _match(source)] if _is_pattern(source) else [source]
    return replace(recipe, sources=tuple(sources))


def expand_targets(recipe: Recipe, is_media: Callable[[Path], bool]) -> list[Recipe]:
    """One job for each target. A recipe with one target is returned as it is.

    Of a folder: every file directly in it that is not hidden and of which `is_media` says that it can be a target.
    Of a pattern: every file that matches, except results in the output folder. The result of a target is named
    after it: its path below the folder, or below the pattern's part without wildcards, is kept in the output folder,
    so that two targets never have the same result.

    Raises:
        UnreadableError: there is no target.
        UsageError: the output is not a folder, or is the folder of the targets.
    """
    if not means_many(recipe.target):
        return [recipe]
    output = Path(recipe.output)
    if output.exists() and not output.is_dir():
        raise UsageError(f"{recipe.target} means many targets, so the output must be a folder: {output} is a file")
    root = Path(recipe.target) if Path(recipe.target).is_dir() else _fixed_part(recipe.target)
    if output.resolve() == root.resolve():
        raise UsageError(f"the results would replace the targets in {root}: name another output folder")
    targets = _folder_targets(root, is_media) if Path(recipe.target).is_dir() else _match(recipe.target)
    targets = [path for path in targets if output.resolve() not in path.resolve().parents]
    if not targets:
        raise UnreadableError(f"no picture or video in {recipe.target}")
    return [replace(recipe, target=str(path), output=str(output / path.relative_to(root))) for path in targets]


def make_parent(output: str) -> None:
    """Make the folder in which a result is to lie.

    Raises:
        UnwritableError: it cannot be made.
    """
    folder = Path(output).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableError(f"cannot make the output folder {folder}: {error.strerror or error}") from error


def _is_pattern(text: str) -> bool:
    return glob.has_magic(text) and not Path(text).exists()


def _match(pattern: str) -> list[Path]:
    files = [Path(name) for name in sorted(glob.glob(pattern, recursive=True)) if Path(name).is_file()]
    if not files:
        raise UnreadableError(f"no file matches '{pattern}'")
    return files


def _folder_targets(folder: Path, is_media: Callable[[Path], bool]) -> list[Path]:
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise UnreadableError(f"cannot read the folder {folder}: {error.strerror or error}") from error
    return [path for path in files if is_media(path)]


def _fixed_part(pattern: str) -> Path:
    """The folders of a pattern before the first one with a wildcard."""
    fixed = Path()
    for part in Path(pattern).parent.parts:
        if glob.has_magic(part):
            break
        fixed /= part
    return fixed
