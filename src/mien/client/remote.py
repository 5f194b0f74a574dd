"""A local recipe done by a service: files go there, the job is followed, the result comes back."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mien.client.reports import read_report
from mien.client.things import Event, Job
from mien.errors import Interrupted, JobError, MienError, UsageError
from mien.pipeline.output import check_output
from mien.pipeline.progress import Progress, ProgressCallback, ProgressMeter
from mien.recipe import Recipe
from mien.report import Report
from mien.service.problems import error_of
from mien.service.remote_recipe import OPERATORS_FIELDS, files_of, with_files

if TYPE_CHECKING:
    from mien.client.client import Client

_HERE = frozenset({"overwrite"})
"""Fields that are the service's to say there, and are seen to here."""
_NAME_THERE = re.compile(r"(?:asset:)?(asset_[A-Za-z0-9]+)(?:\.\w+)?")


def swap_there(
    client: Client,
    recipe: Recipe,
    *,
    progress: ProgressCallback,
    cancelled: Callable[[], bool],
    tier: str,
    priority: str,
) -> Report:
    """See `Client.run`."""
    fields = recipe.to_mapping()
    if own := sorted((OPERATORS_FIELDS - _HERE) & set(fields)):
        raise UsageError(f"'{own[0]}' is for the service to say: leave it out")
    check_output(recipe)
    begun_s = time.monotonic()
    with _sent(client, recipe, progress, cancelled) as ids, _named_as_here(ids):
        there = with_files({name: fields[name] for name in fields if name not in _HERE}, ids.__getitem__)
        job = client.create({**there, "output": Path(recipe.output).name}, tier=tier, priority=priority)
        try:
            ended = _follow(client, job, progress, cancelled)
            client.download(ended.id, recipe.output)
        finally:
            with suppress(MienError):
                client.delete_job(job.id)
    return _report(ended, recipe, time.monotonic() - begun_s)


@contextmanager
def _sent(
    client: Client, recipe: Recipe, progress: ProgressCallback, cancelled: Callable[[], bool]
) -> Generator[dict[str, str]]:
    """Ids of the recipe's files, which are there as long as the block runs."""
    names = files_of(recipe.to_mapping())
    ids: dict[str, str] = {}
    try:
        for number, name in enumerate(names):
            if cancelled():
                raise Interrupted("stopped before all files were sent")
            progress(Progress("sending files", number, len(names)))
            with _named_as_here(ids):
                ids[name] = client.upload(name).id
        yield ids
    finally:
        for asset in ids.values():
            with suppress(MienError):
                client.delete_asset(asset)


def _follow(client: Client, job: Job, progress: ProgressCallback, cancelled: Callable[[], bool]) -> Job:
    """Show how far a job is until it ends.

    Raises:
        Interrupted: it was cancelled, here or there.
        MienError: what it failed with.
    """
    shown = _Shown(progress)
    for event in client.events(job.id):
        if event is not None:
            shown.show(event)
        if cancelled():
            client.cancel(job.id)
            raise Interrupted("stopped: the service keeps nothing of the job")
    ended = client.job(job.id)
    if ended.state == "cancelled":
        raise Interrupted("the job was cancelled on the service")
    if ended.error is not None:
        raise error_of(ended.error["kind"], ended.error["message"])
    if ended.result is None:
        raise JobError(f"the job {job.id} is {ended.state} and has no result")
    return ended


class _Shown:
    """Turns events into progress."""

    def __init__(self, progress: ProgressCallback) -> None:
        self._progress = progress
        self._meter: ProgressMeter | None = None
        self._of: tuple[str, int] = ("", 0)

    def show(self, event: Event) -> None:
        if event.kind != "progress":
            return
        data: dict[str, Any] = event.data
        of = (str(data.get("stage", "")), int(data.get("frames") or 0))
        done = int(data.get("frames_done") or 0)
        if self._meter is None or of != self._of:
            self._meter, self._of = ProgressMeter(*of), of
        self._progress(self._meter.at(time.monotonic(), done))


@contextmanager
def _named_as_here(ids: dict[str, str]) -> Generator[None]:
    """Let messages name files as they are called here."""
    try:
        yield
    except MienError as error:
        here = {asset: name for name, asset in ids.items()}
        text = _NAME_THERE.sub(lambda found: here.get(found[1], found[0]), str(error))
        if text == str(error) or type(error).__init__ is not Exception.__init__:
            raise
        raise type(error)(text) from error


def _report(job: Job, recipe: Recipe, seconds: float) -> Report:
    assert job.result is not None
    # The flagged frames stand beside the report, whose place for them has their number only.
    flagged = [{name: value for name, value in one.items() if name != "thumbnail"} for one in job.flagged]
    told = read_report({**job.result["report"], "flagged": flagged})
    report = dataclasses.replace(told, target=recipe.target, output=recipe.output, seconds=seconds)
    if job.state == "needs_review":
        report.warn("the service asks for a review of this result: look at the flagged frames")
    if job.result["report"].get("preview"):
        report.warn("this is a preview, in half the size: leave out --tier preview for the whole")
    return report
