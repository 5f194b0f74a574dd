"""From a request for a job to a job, or to a refusal that says what to change. Nothing is queued before all is well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mien.errors import MienError
from mien.recipe import Recipe
from mien.service.addresses import is_link, parse_webhook, resolve
from mien.service.inspection.process import Inspector
from mien.service.keys import ApiKey
from mien.service.library import Kept, Library, check_references, check_sources
from mien.service.linked import Links
from mien.service.problems import Problem
from mien.service.quotas import check_cost
from mien.service.records import ASSET, Job, JobId, Priority, TenantId, TierName
from mien.service.remote_recipe import check_fields, files_of, references, source_groups, with_files
from mien.service.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a tenant asks for."""

    recipe: Mapping[str, Any]
    tier: TierName = "batch"
    priority: Priority = "normal"
    webhook: str | None = None
    review_above: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a job would be, for one face in the picture."""

    kind: str
    width: int
    height: int
    frames: int
    media_seconds: float
    segments: int
    enlarged: int
    seconds: float
    """Of one worker."""
    memory_bytes: int
    cost: float | None
    """None where the operator names no price."""
    models: tuple[Mapping[str, Any], ...]
    stages: tuple[str, ...]
    encoding: str | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """A request that can be done."""

    wanted: Wanted
    recipe: Mapping[str, Any]
    """With assets by their ids and an output."""
    estimate: Estimate

    def job(self, job: JobId, key: ApiKey, trace: str) -> Job:
        """The record to queue."""
        return Job(
            id=job,
            tenant=TenantId(key.tenant),
            recipe=self.recipe,
            tier=self.wanted.tier,
            priority=self.wanted.priority,
            weight=key.share,
            kind=self.estimate.kind,
            review_above=self.wanted.review_above,
            webhook=self.wanted.webhook,
            trace=trace,
        )


class Acceptance:
    """Checks requests. Safe to use from several threads."""

    def __init__(self, library: Library, links: Links, inspector: Inspector, settings: Settings) -> None:
        self._library = library
        self._links = links
        self._inspector = inspector
        self._settings = settings

    def check(self, key: ApiKey, wanted: Wanted) -> Checked:
        """Whether a job can be done, and what it would take. Files behind links become assets of the key.

        Raises:
            Problem: whatever is wrong with it, in the order of what costs least to find.
        """
        if wanted.webhook is not None:
            parse_webhook(wanted.webhook, self._settings.webhook_hosts)
        check_fields(wanted.recipe)
        named = {**wanted.recipe, "output": wanted.recipe.get("output") or "result"}
        _recipe_of(named)
        files = {name: self._file(key, name) for name in files_of(named)}
        check_sources([[files[name] for name in group] for group in source_groups(named)])
        check_references([files[name] for name in references(named)])
        if not wanted.recipe.get("output"):
            named["output"] = f"result{Path(files[named['target']].file_name).suffix}"
        plan = self._plan(named, files)
        estimate = estimate_of(plan, self._settings.price_per_hour)
        check_cost(estimate.cost, key.limits)
        if wanted.webhook is not None:
            resolve(wanted.webhook, self._settings.webhook_hosts)
        kept = with_files(named, lambda name: ASSET + files[name].asset.id)
        if self._settings.price_per_hour is not None:
            kept["price_per_hour"] = self._settings.price_per_hour
        return Checked(wanted, _recipe_of(kept).to_mapping(), estimate)

    def _file(self, key: ApiKey, name: str) -> Kept:
        if is_link(name):
            return self._links.fetch(key, name)
        return self._library.find(TenantId(key.tenant), name)

    def _plan(self, named: Mapping[str, Any], files: Mapping[str, Kept]) -> dict[str, Any]:
        """The plan as a worker would make it; only the target is looked at."""
        with self._library.laid_out([files[named["target"]]]) as folder:
            return self._inspector.plan(str(folder), with_files(named, lambda name: files[name].file_name))


def estimate_of(plan: Mapping[str, Any], price_per_hour: float | None) -> Estimate:
    """What users are told of a plan."""
    seconds = float(plan["estimated_seconds"])
    return Estimate(
        kind=plan["kind"],
        width=plan["width"],
        height=plan["height"],
        frames=plan["frames"],
        media_seconds=plan["media_seconds"],
        segments=plan["segments"],
        enlarged=plan["enlarged"],
        seconds=seconds,
        memory_bytes=plan["expected_memory_bytes"],
        cost=None if price_per_hour is None else seconds / 3600 * price_per_hour,
        models=tuple(plan["models"]),
        stages=tuple(plan["stages"]),
        encoding=plan["encoding"],
        warnings=tuple(plan["warnings"]),
    )


def _recipe_of(fields: Mapping[str, Any]) -> Recipe:
    try:
        return Recipe.from_mapping(fields)
    except MienError as error:
        raise Problem.of(error) from error
