"""Records as the API shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from mien.service.acceptance import Estimate
from mien.service.api import schemas
from mien.service.library import Kept
from mien.service.problems import kind_of_error
from mien.service.records import Job, Segment


def show_asset(kept: Kept) -> schemas.Asset:
    """An asset."""
    asset, facts = kept.asset, kept.facts
    return schemas.Asset(
        id=asset.id,
        name=asset.name,
        size_bytes=asset.size_bytes,
        sha256=asset.sha256,
        media_type=asset.media_type,
        created_at=asset.created_s,
        kind=facts.kind,
        width=facts.width,
        height=facts.height,
        frames=facts.frames,
        seconds=facts.seconds,
        faces=facts.faces,
        unfit=facts.unfit,
        warnings=list(facts.warnings),
    )


def show_estimate(estimate: Estimate) -> schemas.Estimate:
    """An estimate."""
    return schemas.Estimate(**asdict(estimate))


def show_job(job: Job, segments: Sequence[Segment], now_s: float) -> schemas.Job:
    """A job at a moment."""
    price = job.recipe.get("price_per_hour")
    done = job.state in ("done", "needs_review")
    return schemas.Job(
        id=job.id,
        state=job.state,
        tier=job.tier,
        priority=job.priority,
        kind=job.kind,
        recipe=dict(job.recipe),
        stage=job.stage,
        frames=job.frames,
        frames_done=job.frames_done,
        progress=1.0 if done else min(job.frames_done / job.frames, 1.0) if job.frames else 0.0,
        seconds_left=job.seconds_left(now_s),
        created_at=job.created_s,
        started_at=job.started_s,
        ended_at=job.ended_s,
        segments=[_show_segment(segment) for segment in segments],
        flagged=[
            schemas.FlaggedFrame(
                frame=one.frame, time_s=one.time_s, reason=one.reason, thumbnail=one.thumbnail is not None
            )
            for one in job.flagged
        ],
        error=schemas.Failure(kind=kind_of_error(job.error.kind), message=job.error.message) if job.error else None,
        result=_show_result(job),
        cost=None if price is None else job.busy_s / 3600 * price,
    )


def _show_segment(segment: Segment) -> schemas.Segment:
    return schemas.Segment(
        number=segment.number,
        first=segment.first,
        end=segment.end,
        state=segment.state,
        attempts=segment.attempts,
        frames_done=segment.frames_done,
    )


def _show_result(job: Job) -> schemas.Result | None:
    if job.result is None:
        return None
    result = job.result
    return schemas.Result(
        name=result.name, size_bytes=result.size_bytes, media_type=result.media_type, report=dict(result.report)
    )
