"""Problems as answers, and how the OpenAPI document tells of them."""

from __future__ import annotations

import logging
from typing import Any

import redis
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from mien.errors import MediaError, MienError
from mien.service.api import schemas
from mien.service.problems import KINDS, MEDIA_TYPE, Problem

_LOG = logging.getLogger(__name__)

_TITLES = {
    401: "The key is missing, wrong, expired or revoked.",
    403: "The key does not permit it, or policy refuses it.",
    404: "There is no such thing, or it is another tenant's.",
    408: "Nothing arrived for too long.",
    409: "Not possible in this state, or the first request with this Idempotency-Key is still being answered.",
    410: "The link has expired.",
    413: "Too large.",
    415: "Neither a picture nor a video that is taken.",
    416: "The range lies outside the file.",
    422: "Something in the request has to be changed; the detail says what.",
    429: "Too many requests, or a quota is used up.",
    503: "The service cannot answer at the moment.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that may end in these problems; those that any route may end in are added."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    every = sorted({*statuses, 422, 429, 503})
    return {status: {"description": _TITLES[status], "content": content} for status in every}


def answer_problems(app: FastAPI) -> None:
    """Let every error be answered as a problem."""
    app.add_exception_handler(MienError, _on_mien_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(redis.RedisError, _on_redis)
    app.add_exception_handler(OSError, _on_files)


def respond(request: Request, problem: Problem) -> JSONResponse:
    """The answer that a problem is, which is counted."""
    request.app.state.front.metrics.problem(problem.kind.name)
    body = problem.to_mapping(request.url.path)
    return JSONResponse(body, problem.kind.status, problem.headers, media_type=MEDIA_TYPE)


def unavailable(detail: str) -> Problem:
    """A part of the service does not answer."""
    return Problem(KINDS["unavailable"], detail, {"retry_after_s": 5})


def fault() -> Problem:
    """What nobody foresaw; what it was is for the log only."""
    return Problem(KINDS["internal"], "this is a fault in the service; its log has the trace id of this answer")


async def _on_mien_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MienError)
    if isinstance(error.__cause__, redis.RedisError):
        return await _on_redis(request, error)
    if isinstance(error, MediaError):
        # What is wrong with uploads is a problem by now: this is about the service's own files.
        return await _on_files(request, error)
    return respond(request, Problem.of(error))


async def _on_files(request: Request, error: Exception) -> JSONResponse:
    _LOG.error("storage fails: %s", error)
    return respond(request, unavailable("storage does not do what it is asked: try again in a moment"))


async def _on_redis(request: Request, _error: Exception) -> JSONResponse:
    return respond(request, unavailable("the queue does not answer: try again in a moment"))


async def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [
        {"at": "/".join(str(step) for step in one["loc"]), "problem": str(one["msg"])} for one in error.errors()[:20]
    ]
    detail = "; ".join(f"{one['at']}: {one['problem']}" for one in found)
    return respond(request, Problem(KINDS["malformed_request"], detail[:2000], {"errors": found}))


async def _on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        problem = Problem(KINDS["method"], f"{request.url.path} does not take {request.method}: see /v1/openapi.json")
        response = respond(request, problem)
        response.headers.update(error.headers or {})
        return response
    if error.status_code == 404:
        return respond(request, Problem(KINDS["not_found"], f"there is no {request.url.path}: see /v1/openapi.json"))
    return respond(request, Problem(KINDS["malformed_request"], str(error.detail)))


PROBLEM_SCHEMA = schemas.Problem.model_json_schema()
