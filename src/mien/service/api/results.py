"""What a job gives: its result, links to it, thumbnails of flagged frames, and the frame that was last finished."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from mien.service.api import schemas
from mien.service.api.answers import problems
from mien.service.api.callers import FrontOf, ReadsJobs
from mien.service.api.front import Front
from mien.service.api.jobs import job_of
from mien.service.api.ranges import parse_range
from mien.service.previews import preview_key
from mien.service.problems import refuse
from mien.service.records import Job, JobId, Result
from mien.service.signing import opens_link, sign_link

router = APIRouter(prefix="/v1", tags=["results"])

_FILE = {
    200: {
        "description": "The file.",
        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
    },
    206: {
        "description": "The range of it that was asked for.",
        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
    },
}
_PICTURE = {
    200: {
        "description": "A JPEG picture.",
        "content": {"image/jpeg": {"schema": {"type": "string", "format": "binary"}}},
    }
}
Range = Annotated[str | None, Header(max_length=200, description="One range of bytes.")]
IfRange = Annotated[str | None, Header(max_length=200, description="Give the range only if the ETag is this one.")]


@router.get(
    "/jobs/{job}/result",
    summary="Download the result",
    response_class=StreamingResponse,
    responses={**_FILE, **problems(401, 403, 404, 409, 416)},
)
def result(
    front: FrontOf, key: ReadsJobs, job: str, range: Range = None, if_range: IfRange = None
) -> StreamingResponse:
    """All of it, or a range."""
    found = job_of(front, key, job)
    if range is None or range.startswith("bytes=0-"):  # A player asks for hundreds of ranges: the first one tells.
        front.audit.append("result.read", key=key.id, tenant=key.tenant, job=found.id)
    return _send(front, found, range, if_range)


@router.post(
    "/jobs/{job}/links", status_code=201, summary="Make a link to the result", responses=problems(401, 403, 404, 409)
)
def link(request: Request, front: FrontOf, key: ReadsJobs, job: str, wanted: schemas.LinkRequest) -> schemas.Link:
    """For those who have no key; it opens until it expires or the job is deleted."""
    found = job_of(front, key, job)
    result_of(found)
    expires_s = int(front.clock() + (wanted.valid_s or front.settings.link_valid_s))
    front.audit.append("result.linked", key=key.id, tenant=key.tenant, job=found.id, expires=expires_s)
    base = (front.settings.public_url or str(request.base_url)).rstrip("/")
    signature = sign_link(front.secret, found.id, expires_s)
    url = f"{base}/v1/results/{found.id}?expires={expires_s}&signature={signature}"
    return schemas.Link(url=url, expires_at=expires_s)


@router.get(
    "/results/{job}",
    summary="Follow a link to a result",
    response_class=StreamingResponse,
    responses={**_FILE, **problems(404, 409, 410, 416)},
)
def linked_result(
    front: FrontOf,
    job: str,
    expires: Annotated[int, Query(ge=0, le=10**12)],
    signature: Annotated[str, Query(max_length=64)],
    range: Range = None,
    if_range: IfRange = None,
) -> StreamingResponse:
    """Needs no key: the link is one."""
    found = front.state.job(JobId(job)) if opens_link(front.secret, job, expires, signature) else None
    if found is None:
        refuse("not_found", "this link leads nowhere: it was changed on its way, or the job was deleted")
    if front.clock() >= expires:
        refuse("expired", "the link has expired: ask whoever gave it for another one")
    return _send(front, found, range, if_range)


@router.get(
    "/jobs/{job}/preview",
    summary="See the frame that was last finished",
    response_class=StreamingResponse,
    responses={**_PICTURE, **problems(401, 403, 404)},
)
def preview(front: FrontOf, key: ReadsJobs, job: str) -> StreamingResponse:
    """Of a job that runs; small."""
    found = job_of(front, key, job)
    return _picture(front, preview_key(found.id), "no frame is finished yet: ask again in a moment")


@router.get(
    "/jobs/{job}/flagged/{frame}",
    summary="See a flagged frame",
    response_class=StreamingResponse,
    responses={**_PICTURE, **problems(401, 403, 404)},
)
def flagged(front: FrontOf, key: ReadsJobs, job: str, frame: int) -> StreamingResponse:
    """A small picture of it."""
    found = job_of(front, key, job)
    key_of = {one.frame: one.thumbnail for one in found.flagged}
    return _picture(front, key_of.get(frame), f"frame {frame} is not flagged, or has no picture")


def result_of(job: Job) -> Result:
    """The result of a job that has one.

    Raises:
        Problem: wrong_state.
    """
    if job.result is None:
        more = f": {job.error.message}" if job.error else ""
        refuse("wrong_state", f"the job has no result, it is {job.state}{more}", state=job.state)
    return job.result


def _send(front: Front, job: Job, header: str | None, if_range: str | None) -> StreamingResponse:
    result = result_of(job)
    tag = f'"{job.id}-{int((job.ended_s or 0) * 1000):x}"'
    span = parse_range(header if if_range in (None, tag) else None, result.size_bytes)
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": tag,
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(result.name, safe='')}",
        "Content-Length": str(result.size_bytes if span is None else span.end - span.first),
    }
    if span is None:
        pieces = front.storage.read(result.key)
    else:
        headers["Content-Range"] = f"bytes {span.first}-{span.end - 1}/{result.size_bytes}"
        pieces = front.storage.read(result.key, span.first, span.end - span.first)
    return StreamingResponse(_begun(pieces), 200 if span is None else 206, headers, result.media_type)


def _picture(front: Front, key: str | None, otherwise: str) -> StreamingResponse:
    if key is None or not any(stored.key == key for stored in front.storage.list(key)):
        refuse("not_found", otherwise)
    return StreamingResponse(_begun(front.storage.read(key)), media_type="image/jpeg")


def _begun(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same pieces; what is wrong with the file is found before the answer's head is sent."""
    first = next(pieces, b"")

    def all_pieces() -> Iterator[bytes]:
        yield first
        yield from pieces

    return all_pieces()
