"""The API as an ASGI application."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

import mien
from mien.service.api import assets, events, health, jobs, results, waiting
from mien.service.api.answers import PROBLEM_SCHEMA, answer_problems
from mien.service.api.envelope import Envelope
from mien.service.api.front import Front
from mien.service.bell import Bell
from mien.service.cleaning import keep_clean
from mien.service.problems import Problem

_LOG = logging.getLogger(__name__)

_CLEAN_EVERY_S = 300.0
_DESCRIPTION = """\
Replaces faces in pictures and video. Upload files as assets, ask for a job with a recipe that names them, follow it,
and download the result. Every call needs a key: `Authorization: Bearer mien_...`. What goes wrong is answered as
`application/problem+json`, whose `detail` says what to change."""


def make_app(front: Front) -> FastAPI:
    """An application that works with these parts; starting it starts what works beside it."""
    app = _bare_app()
    app.state.front = front
    app.state.stopping = threading.Event()
    app.add_middleware(Envelope, metrics=front.metrics)
    answer_problems(app)
    return app


def openapi_document() -> dict[str, Any]:
    """What the API can do."""
    return _bare_app().openapi()


def _bare_app() -> FastAPI:
    app = FastAPI(
        title="mien",
        version=mien.__version__,
        description=_DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    for part in (assets, jobs, events, results, health):
        app.include_router(part.router)
    app.openapi = lambda: _document(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    front: Front = app.state.front
    stopping: threading.Event = app.state.stopping
    app.state.streams = CapacityLimiter(events.STREAMS)
    app.state.looking = CapacityLimiter(front.settings.inspectors + waiting.BESIDE)
    tasks: Sequence[Callable[[], Any]] = (
        lambda: _warm(front),
        lambda: front.postman.run(stopping),
        lambda: keep_clean(front.cleaner, stopping.wait, _CLEAN_EVERY_S),
    )
    threads = [threading.Thread(target=task, daemon=True) for task in tasks]
    with Bell(front.state, {"stopped": front.postman.hear}):
        for thread in threads:
            thread.start()
        yield
        stopping.set()
    for thread in threads:
        thread.join()


def _warm(front: Front) -> None:
    try:
        front.inspector.warm()
    except Problem as problem:
        _LOG.error("uploads cannot be looked into: %s", problem)


def _document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with problems where FastAPI tells of its own errors."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=_TAGS
        )
        schemas = document["components"]["schemas"]
        schemas["Problem"] = PROBLEM_SCHEMA
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        app.openapi_schema = document
    return app.openapi_schema


_TAGS = [
    {"name": "assets", "description": "Pictures and videos of the tenant."},
    {"name": "jobs", "description": "Recipes to be done."},
    {"name": "results", "description": "What jobs give."},
    {"name": "operation", "description": "For those who run the service."},
]
