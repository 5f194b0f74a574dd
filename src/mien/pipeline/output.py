"""Whether a job's result can be written, asked before any work."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from mien.errors import UnwritableError, UsageError
from mien.recipe import Recipe


def check_output(recipe: Recipe) -> None:
    """Check that the output is free, is no file of the job itself, and that its directory takes files.

    Raises:
        UsageError: the output is the target or one of the pictures.
        UnwritableError: it exists and is not to be replaced, or its directory is missing or not writable.
    """
    output = Path(recipe.output)
    for name in _inputs(recipe):
        if os.path.exists(name) and output.exists() and os.path.samefile(name, output):
            raise UsageError(f"the output {output} is the job's own {name}: give another name")
    if output.is_dir():
        raise UnwritableError(f"the output {output} is a directory: give the name of a file in it")
    check_free(recipe)
    if not output.parent.is_dir():
        raise UnwritableError(f"the directory of the output, {output.parent}, does not exist: make it first")
    try:
        # The permission bits do not tell (read-only file systems, access lists): only trying does.
        with tempfile.TemporaryFile(dir=output.parent):
            pass
    except OSError as error:
        raise UnwritableError(f"cannot write in {output.parent}, the output's directory: {error.strerror}") from error


def check_free(recipe: Recipe) -> None:
    """Check that the output is not there yet, or is to be replaced.

    Raises:
        UnwritableError: it is there, and is to stay.
    """
    if Path(recipe.output).exists() and not recipe.overwrite:
        raise UnwritableError(
            f"the output {recipe.output} is already there: give another name, or 'overwrite' to replace it"
        )


def _inputs(recipe: Recipe) -> list[str]:
    references = [recipe.reference] if recipe.reference else []
    people = [name for entry in recipe.map for name in (*entry.sources, entry.reference)]
    return [recipe.target, *recipe.sources, *references, *people]
