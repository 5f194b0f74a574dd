"""`/healthz`, `/readyz` and `/metrics`: for those who run the service."""

from __future__ import annotations

import redis
from fastapi import APIRouter, Depends, Response

from mien.service.api import schemas
from mien.service.api.answers import problems
from mien.service.api.callers import FrontOf, allow
from mien.service.api.front import Front
from mien.service.problems import refuse
from mien.service.records import TierName

router = APIRouter(tags=["operation"])

_METRICS = {200: {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/healthz", summary="Whether the process lives")
async def healthz() -> schemas.Status:
    """Asks nobody else."""
    return schemas.Status(status="ok")


@router.get("/readyz", summary="Whether it can take work", responses=problems())
def readyz(front: FrontOf) -> schemas.Status:
    """The queue answers, uploads can be looked into, and the worker that belongs to it has its networks loaded."""
    try:
        front.state.client.ping()
    except redis.RedisError:
        refuse("unavailable", "the queue does not answer")
    if not front.inspector.ready:
        refuse("unavailable", "the networks that look into uploads are being loaded", retry_after_s=2)
    if (tier := front.settings.ready_with) is not None and not _is_warm(front, tier):
        refuse("unavailable", f"the {tier} worker loads its networks", retry_after_s=2)
    return schemas.Status(status="ok")


def _is_warm(front: Front, tier: TierName) -> bool:
    return any(about.get("tier") == tier and about.get("ready") for about in front.state.workers().values())


@router.get(
    "/metrics",
    summary="Figures",
    response_class=Response,
    responses={**_METRICS, **problems(401, 403)},
    dependencies=[Depends(allow("metrics:read"))],
)
def metrics(front: FrontOf) -> Response:
    """Of this process and of the queue; needs a key with the scope `metrics:read`."""
    return Response(front.metrics.expose(), media_type="text/plain; version=0.0.4; charset=utf-8")
