"""`/v1/jobs/{id}/events`: what happens to a job, as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Annotated

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse

from mien.service.api.answers import problems
from mien.service.api.callers import FrontOf, ReadsJobs
from mien.service.api.front import Front
from mien.service.api.jobs import job_of
from mien.service.problems import refuse
from mien.service.records import ENDED, Event, JobId

router = APIRouter(prefix="/v1", tags=["jobs"])

STREAMS = 200
"""Listeners that one process serves at once: each takes a thread that waits."""
_WAIT_S = 2.0
"""How soon a listener notices that the service stops; also how often a sign of life is sent."""
_ID = r"^[0-9]{1,20}(-[0-9]{1,20})?$"

_EVENT = {
    "type": "object",
    "required": ["id", "event", "data"],
    "properties": {
        "id": {"type": "string", "description": "To go on from, as Last-Event-ID."},
        "event": {"enum": ["state", "progress", "segment", "attempt", "flagged"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "example": {"id": "1790000000000-0", "event": "state", "data": '{"state": "running"}'},
}
_STREAM = {
    200: {
        "description": "Events `state`, `progress`, `segment`, `attempt` and `flagged`, with JSON as data; the stream "
        "ends after the state that the job ends in.",
        "content": {"text/event-stream": {"schema": _EVENT}},
    }
}


@router.get(
    "/jobs/{job}/events",
    summary="Follow a job",
    response_class=StreamingResponse,
    responses={**_STREAM, **problems(401, 403, 404)},
)
async def events(
    request: Request,
    front: FrontOf,
    key: ReadsJobs,
    job: str,
    last_event_id: Annotated[str | None, Header(pattern=_ID, description="Go on after this event.")] = None,
) -> StreamingResponse:
    """From the beginning, or after the event that was received last."""
    found = await run_sync(job_of, front, key, job)
    limiter: CapacityLimiter = request.app.state.streams
    if limiter.available_tokens < 1:
        refuse("unavailable", "too many listeners at once: ask for the job's state instead", retry_after_s=10)
    stream = _follow(front, found.id, last_event_id or "0", limiter, request.app.state.stopping.is_set)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _follow(
    front: Front, job: JobId, after: str, limiter: CapacityLimiter, stopping: Callable[[], bool]
) -> AsyncIterator[str]:
    def wait() -> list[Event]:
        return front.state.events(job, after, wait_s=_WAIT_S)

    yield "retry: 2000\n\n"
    while not stopping():
        found = await run_sync(wait, limiter=limiter)
        for event in found:
            after = event.id
            yield f"id: {event.id}\nevent: {event.kind}\ndata: {json.dumps(dict(event.data))}\n\n"
        if found and found[-1].kind == "state" and found[-1].data.get("state") in ENDED:
            return
        if not found:
            now = await run_sync(front.state.job, job)
            if now is None or now.ended:
                return
            # Whoever has gone is noticed by writing.
            yield ": waiting\n\n"
