"""From a job as its tenant wrote it to a recipe whose files lie on the worker's disk, looked at and found bearable."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from mien.errors import UnreadableError, UsageError
from mien.pipeline.segmented import REHEARSAL_FRAMES
from mien.recipe import Recipe
from mien.service.decoding import Bounds, Part, check
from mien.service.records import ASSET, AssetId, Job
from mien.service.state import JOIN, START, Grant, State
from mien.service.tiers import TIERS
from mien.service.workspace import Desk

_CHECKED = 10_000
"""Files that are remembered as bearable."""


class Materials:
    """Brings what tries need. Safe to use from several threads."""

    def __init__(self, state: State, bounds: Bounds) -> None:
        self._state = state
        self._bounds = bounds
        self._checked: dict[str, None] = {}

    def recipe(self, job: Job, grant: Grant, desk: Desk) -> Recipe:
        """What the try is to do.

        Raises:
            RecipeError: the recipe makes no sense.
            UsageError: it names a file that is no asset of its tenant.
            MienError: a file cannot be decoded within the bounds.
        """
        fields = TIERS[job.tier].applied({**job.recipe, **job.models})
        brought = _Bringing(self._state, job, desk)
        local = brought.fields(fields)
        output = desk.folder / "result" / f"result{PurePosixPath(str(fields['output'])).suffix}"
        output.parent.mkdir()
        recipe = Recipe.from_mapping({**local, "output": str(output), "overwrite": False, "resume": False})
        for path, sha256 in brought.files.items():
            if path != Path(recipe.target):
                self._check_once(path, sha256)
        if TIERS[job.tier].is_preview and job.kind != "animation":
            return self._halved(recipe, grant, desk)
        if grant.task != JOIN:
            check(Path(recipe.target), self._bounds, _part(recipe, grant))
        return recipe

    def _halved(self, recipe: Recipe, grant: Grant, desk: Desk) -> Recipe:
        """The recipe for a copy of the target that is half as large: made by the first try, brought by the others."""
        path = desk.folder / f"half{'.mkv' if grant.kind == 'video' else '.png'}"
        if grant.task == START:
            check(Path(recipe.target), self._bounds, Part(halved=path))
        else:
            desk.bring_part(self._state.outputs(grant.job)[START]["target"], path.name)
        return replace(recipe, target=str(path))

    def _check_once(self, path: Path, sha256: str) -> None:
        if sha256 not in self._checked:
            check(path, self._bounds)
            self._checked[sha256] = None
            while len(self._checked) > _CHECKED:
                del self._checked[next(iter(self._checked))]


def _part(recipe: Recipe, grant: Grant) -> Part:
    if grant.task == START:
        return Part(recipe.start, recipe.end)
    return Part(recipe.start, recipe.end, (max(grant.first - REHEARSAL_FRAMES, 0), grant.end))


class _Bringing:
    """Puts the files of one job into the folder of one try."""

    def __init__(self, state: State, job: Job, desk: Desk) -> None:
        self._state = state
        self._job = job
        self._desk = desk
        self._names: dict[str, str] = {}
        self.files: dict[Path, str] = {}
        """Each with the SHA-256 of its content."""

    def fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        local = dict(fields)
        for name in ("target", "reference"):
            if local.get(name) is not None:
                local[name] = self._file(local[name])
        if "sources" in local:
            local["sources"] = self._files(local["sources"])
        if "map" in local:
            local["map"] = [
                {
                    "sources": [self._file(source) for source in entry["sources"]],
                    "reference": self._file(entry["reference"]),
                }
                for entry in local["map"]
            ]
        return local

    def _files(self, names: Sequence[object]) -> list[str]:
        return [self._file(name) for name in names]

    def _file(self, name: object) -> str:
        text = str(name)
        if text not in self._names:
            self._names[text] = self._bring(text, len(self._names))
        return self._names[text]

    def _bring(self, name: str, number: int) -> str:
        asset = self._state.asset(AssetId(name.removeprefix(ASSET))) if name.startswith(ASSET) else None
        if asset is None or asset.tenant != self._job.tenant:
            raise UsageError(f"the job names {name}, which is no uploaded file: upload it, and give asset:ID")
        safe = re.sub(r"[^\w.-]", "_", PurePosixPath(asset.name).name)[-80:]
        try:
            path = self._desk.bring(asset.key, f"given/{number}/{safe or 'file'}")
        except UnreadableError as error:
            raise UnreadableError(f"the uploaded file {asset.name} is no longer there: upload it again") from error
        self.files[path] = asset.sha256
        return str(path)
