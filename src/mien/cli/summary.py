"""A report as a short table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mien.cli.console import count_of, format_bytes, format_duration, table
from mien.cli.wording import with_options
from mien.report import FlaggedFrame, Marks, Report

if TYPE_CHECKING:
    from mien.cli.batch import Outcome

_SHOWN = 8
"""Flagged stretches and warnings that are listed; the JSON report has all."""


def format_report(report: Report) -> str:
    """The figures of a run, one topic a line, then warnings and frames to look at."""
    rows = [["output", report.output]]
    rows.append(["frames", _frames(report)])
    if report.faces:
        rows.append(["faces", _faces(report)])
    rows.append(["time", _time(report)])
    rows.append(["memory", f"{format_bytes(report.peak_memory_bytes)} at most"])
    rows += [["models" if number == 0 else "", line] for number, line in enumerate(_models(report))]
    if quality := _quality(report):
        rows.append(["quality", quality])
    rows.append(["marks", _marks(report.marks)])
    if report.cost is not None:
        rows.append(["cost", _cost(report)])
    rows += [["warning", with_options(warning)] for warning in report.warnings[:_SHOWN]]
    if len(report.warnings) > _SHOWN:
        rows.append(["", f"and {len(report.warnings) - _SHOWN} more warnings (--json has them)"])
    rows += [["look at" if number == 0 else "", line] for number, line in enumerate(_flagged(report.flagged))]
    return table(rows)


def format_outcome(outcome: Outcome) -> str:
    """What became of one target of many, on one line, and its warnings below."""
    names = f"{outcome.job.target} -> {outcome.job.output}"
    if outcome.error:
        return f"failed  {outcome.job.target}"
    if outcome.report is None:
        return f"ready   {names}: finished by an earlier run"
    report = outcome.report
    text = f"done    {names}: {count_of(report.frames, 'frame', 'frames')} in {format_duration(report.seconds)}"
    if flagged := len(report.flagged):
        text += f", {count_of(flagged, 'frame', 'frames')} to look at"
    return "\n".join([text, *(f"        warning: {with_options(warning)}" for warning in report.warnings)])


def _frames(report: Report) -> str:
    text = f"{report.frames}, {report.frames_with_faces} with a face"
    if report.segments_reused:
        text += f"; {report.segments_reused} of {report.segments} parts from an earlier run"
    return text


def _faces(report: Report) -> str:
    people = f", {count_of(report.people, 'person', 'people')}" if report.people else ""
    tracks = f", {count_of(report.tracks, 'track', 'tracks')}" if report.tracks else ""
    return f"{report.faces} edited{people}{tracks}"


def _time(report: Report) -> str:
    text = format_duration(report.seconds)
    if report.frames > 1:
        text += f", {report.frames_per_second:.1f} frames/s"
    if report.media_seconds and report.seconds:
        text += f", {report.media_seconds / report.seconds:.2f} times real time"
    return f"{text}, {report.cpu_seconds:.1f} s of processor time"


def _models(report: Report) -> list[str]:
    rows = [
        [use.model, f"{use.engine} {use.precision}", use.device, f"{use.items} in {use.seconds:.2f} s"]
        for use in report.models
    ]
    return table(rows).splitlines()


def _quality(report: Report) -> str:
    quality, parts = report.quality, list[str]()
    if quality.identity_distance is not None:
        verdict = "the same person" if quality.identity_distance < 0.6 else "not seen as the same person"
        parts.append(f"distance to the source {quality.identity_distance:.2f} ({verdict})")
    if quality.target_distance is not None:
        parts.append(f"to the face before {quality.target_distance:.2f}")
    if quality.flicker is not None:
        parts.append(f"flicker {quality.flicker:.2f} of the target's")
    return ", ".join(parts)


def _marks(marks: Marks) -> str:
    parts: list[str] = []
    if marks.metadata:
        parts.append(f"AI-content metadata ({marks.metadata})")
    if marks.signer:
        parts.append("signed by this installation, vouched for by nobody" if marks.own_signer else marks.signer)
    if marks.watermark:
        parts.append(f"watermark {marks.watermark}")
    if marks.label:
        parts.append(f"label '{marks.label}'")
    return ", ".join(parts) or "none"


def _cost(report: Report) -> str:
    text = f"{report.cost:.4f} at {report.price_per_hour:g} an hour"
    if report.cost_per_media_minute is not None:
        text += f", {report.cost_per_media_minute:.4f} for a minute of video"
    return text


def _flagged(flagged: list[FlaggedFrame]) -> list[str]:
    """Neighbouring frames with one reason become one line."""
    stretches: list[tuple[FlaggedFrame, FlaggedFrame]] = []
    open_stretches: dict[tuple[str, int | None], int] = {}
    for frame in flagged:
        key = (frame.reason, frame.track)
        at = open_stretches.get(key)
        if at is not None and frame.frame - stretches[at][1].frame <= 1:
            stretches[at] = (stretches[at][0], frame)
        else:
            open_stretches[key] = len(stretches)
            stretches.append((frame, frame))
    lines = [_stretch(first, last) for first, last in stretches[:_SHOWN]]
    if len(stretches) > _SHOWN:
        lines.append(f"and {len(stretches) - _SHOWN} more (--json has them)")
    return lines


def _stretch(first: FlaggedFrame, last: FlaggedFrame) -> str:
    if first.frame == last.frame:
        return f"frame {first.frame} ({first.time_s:.2f} s): {first.reason}"
    return f"frames {first.frame}-{last.frame} ({first.time_s:.2f}-{last.time_s:.2f} s): {first.reason}"
