"""The report of a job that several tries made together, from theirs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from mien.report import ModelUse, Report


def combine(whole: Report, parts: Sequence[Mapping[str, Any]]) -> Report:
    """The join's report with the time, networks and warnings of the other tasks added.

    Args:
        whole: the join's: what was counted in the frames is in it already.
        parts: plain forms of the others'.
    """
    report = dataclasses.replace(whole, stages=dict(whole.stages), warnings=list(whole.warnings))
    for part in parts:
        report.seconds += part["seconds"]
        report.cpu_seconds += part["cpu_seconds"]
        report.peak_memory_bytes = max(report.peak_memory_bytes, part["peak_memory_bytes"])
        for name, seconds in part["stages"].items():
            report.stages[name] = report.stages.get(name, 0.0) + seconds
        for warning in part["warnings"]:
            report.warn(warning)
    report.models = _together([*whole.models, *(ModelUse(**use) for part in parts for use in part["models"])])
    report.segments_reused = 0
    if report.seconds > 0:
        report.frames_per_second = report.frames / report.seconds
    if report.price_per_hour is not None:
        report.cost = report.seconds / 3600 * report.price_per_hour
        if report.media_seconds > 0:
            report.cost_per_media_minute = report.cost / (report.media_seconds / 60)
    return report


def _together(uses: Sequence[ModelUse]) -> list[ModelUse]:
    """One entry for each network and the way it ran."""
    sums: dict[tuple[str, ...], ModelUse] = {}
    for use in uses:
        key = (use.model, use.engine, use.device, use.precision)
        before = sums.get(key)
        sums[key] = (
            use
            if before is None
            else dataclasses.replace(
                before,
                calls=before.calls + use.calls,
                items=before.items + use.items,
                seconds=before.seconds + use.seconds,
            )
        )
    return list(sums.values())
