"""`/v1/jobs` and `/v1/estimates`: what tenants ask for, and what became of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from mien.service.acceptance import Checked, Wanted
from mien.service.api import schemas
from mien.service.api.answers import problems
from mien.service.api.callers import FrontOf, ReadsJobs, WritesJobs, tenant_of
from mien.service.api.front import Front
from mien.service.api.once import KEY_PATTERN, once
from mien.service.api.shown import show_estimate, show_job
from mien.service.api.tracing import trace_of
from mien.service.api.waiting import in_line
from mien.service.keys import ApiKey
from mien.service.problems import refuse
from mien.service.records import Job, JobId, new_id

router = APIRouter(prefix="/v1", tags=["jobs"])


@router.post("/estimates", summary="Say what a job would take", responses=problems(401, 403, 404, 413, 415))
async def estimate(request: Request, front: FrontOf, key: WritesJobs, wanted: schemas.JobRequest) -> schemas.Estimate:
    """Checks a request as `POST /v1/jobs` does, and does nothing."""
    checked = await in_line(request, lambda: front.acceptance.check(key, wanted_of(wanted)))
    return show_estimate(checked.estimate)


@router.post("/jobs", status_code=201, summary="Ask for a job", responses=problems(401, 403, 404, 409, 413, 415))
async def create(
    request: Request,
    front: FrontOf,
    key: WritesJobs,
    wanted: schemas.JobRequest,
    idempotency_key: Annotated[str | None, Header(pattern=KEY_PATTERN)] = None,
) -> schemas.Job:
    """Checked before it is accepted. With an Idempotency-Key, a request that is sent again within 24 hours gives the
    same job."""
    body = wanted.model_dump_json(exclude_unset=True).encode()
    trace = trace_of(request)

    def make() -> schemas.Job:
        job = once(
            front,
            key,
            idempotency_key,
            body,
            lambda: new_id("job"),
            lambda job: _make(front, key, wanted, job, trace),
        )
        return _shown(front, job)

    return await in_line(request, make)


@router.get("/jobs", summary="List jobs", responses=problems(401, 403))
def list_jobs(
    front: FrontOf,
    key: ReadsJobs,
    first: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    count: Annotated[int, Query(ge=1, le=100)] = 50,
) -> schemas.JobList:
    """The tenant's, newest first."""
    now_s = front.clock()
    jobs = front.state.jobs(tenant_of(key), first=first, count=count)
    return schemas.JobList(jobs=[show_job(job, (), now_s) for job in jobs])


@router.get("/jobs/{job}", summary="Show a job", responses=problems(401, 403, 404))
def show(front: FrontOf, key: ReadsJobs, job: str) -> schemas.Job:
    """State, progress, segments and flagged frames."""
    return _shown(front, job_of(front, key, job))


@router.post("/jobs/{job}/cancel", summary="Cancel a job", responses=problems(401, 403, 404, 409))
def cancel(front: FrontOf, key: WritesJobs, job: str) -> schemas.Job:
    """Whoever works on it stops within a batch. Cancelling twice does no harm."""
    found = job_of(front, key, job)
    if not front.state.cancel(found.id) and job_of(front, key, job).state != "cancelled":
        refuse("wrong_state", f"the job {found.id} has ended: it is {found.state}", state=found.state)
    front.audit.append("job.cancelled", key=key.id, tenant=key.tenant, job=found.id)
    return _shown(front, job_of(front, key, job))


@router.post("/jobs/{job}/retry", summary="Try a job again", responses=problems(401, 403, 404, 409))
def retry(front: FrontOf, key: WritesJobs, job: str) -> schemas.Job:
    """Of a job that failed or was cancelled; it begins anew."""
    found = job_of(front, key, job)
    front.usage.enter(key, found.id, lambda other: _has_ended(front, other))
    if not front.state.retry(found.id):
        if found.ended:
            front.usage.leave(key.id, found.id)
        refuse("wrong_state", f"only a failed or cancelled job is tried again: it is {found.state}", state=found.state)
    front.postman.expect(found.id, found.webhook)
    front.audit.append("job.retried", key=key.id, tenant=key.tenant, job=found.id)
    return _shown(front, job_of(front, key, job))


@router.delete("/jobs/{job}", status_code=204, summary="Delete a job", responses=problems(401, 403, 404))
def delete(front: FrontOf, key: WritesJobs, job: str) -> Response:
    """Stops it, and removes its result, thumbnails and record."""
    found = job_of(front, key, job)
    front.cleaner.forget_job(found.id)
    front.usage.leave(key.id, found.id)
    front.audit.append("job.deleted", key=key.id, tenant=key.tenant, job=found.id)
    return Response(status_code=204)


def wanted_of(body: schemas.JobRequest) -> Wanted:
    """A request as it is checked; fields that were not sent are left out of the recipe."""
    return Wanted(
        recipe=body.recipe.model_dump(exclude_unset=True),
        tier=body.tier,
        priority=body.priority,
        webhook=body.webhook,
        review_above=body.review_above,
    )


def job_of(front: Front, key: ApiKey, name: str) -> Job:
    """A job of the caller's tenant.

    Raises:
        Problem: not_found, also for what belongs to somebody else.
    """
    job = front.state.job(JobId(name))
    if job is None or job.tenant != tenant_of(key):
        refuse("not_found", f"there is no job '{name:.100}': check the id")
    return job


def _make(front: Front, key: ApiKey, wanted: schemas.JobRequest, name: str, trace: str) -> Job:
    job = JobId(name)
    if (known := front.state.job(job)) is not None:
        return known
    checked = front.acceptance.check(key, wanted_of(wanted))
    _count(front, key, job, checked)
    front.state.create(checked.job(job, key, trace))
    front.postman.expect(job, wanted.webhook)
    front.audit.append("job.created", key=key.id, tenant=key.tenant, job=job, trace=trace)
    return job_of(front, key, job)


def _count(front: Front, key: ApiKey, job: JobId, checked: Checked) -> None:
    front.usage.enter(key, job, lambda other: _has_ended(front, other))
    try:
        front.usage.take_minutes(key, checked.estimate.media_seconds, front.clock())
    except BaseException:
        front.usage.leave(key.id, job)
        raise


def _has_ended(front: Front, name: str) -> bool:
    job = front.state.job(JobId(name))
    return job is None or job.ended


def _shown(front: Front, job: Job) -> schemas.Job:
    return show_job(job, front.state.segments(job.id), front.clock())
