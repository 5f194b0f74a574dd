"""What every request goes through: a trace id, a bound on its size, safe headers, a line in the log, a figure."""

from __future__ import annotations

import logging
import time

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mien.service.api.answers import fault, respond
from mien.service.api.metrics import Metrics
from mien.service.api.tracing import choose_trace
from mien.service.logs import TRACE
from mien.service.problems import KINDS, Problem
from mien.service.spans import span

_LOG = logging.getLogger("mien.api")

_BODY_BYTES = 1_000_000
"""Of everything but uploads, which have a limit of their own."""
_UPLOADS = "/v1/assets"

SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class TooLarge(Exception):
    """A body went over the bound."""


class Envelope:
    """The outermost layer of the API."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await _Exchange(self._app, self._metrics, scope, receive, send).run()


class _Exchange:
    def __init__(self, app: ASGIApp, metrics: Metrics, scope: Scope, receive: Receive, send: Send) -> None:
        self._app = app
        self._metrics = metrics
        self._scope = scope
        self._receive = receive
        self._send = send
        self._begun_s = time.perf_counter()
        self._status = 0
        self._received = 0
        self._is_over = False
        self._is_upload = scope["path"] == _UPLOADS
        self._trace = choose_trace(_header(scope, b"traceparent"))

    async def run(self) -> None:
        self._scope.setdefault("state", {})["trace"] = self._trace
        token = TRACE.set(self._trace)
        try:
            if self._is_too_large():
                raise TooLarge
            with span("request", self._trace, method=self._scope["method"]) as describe:
                await self._app(self._scope, self._bounded_receive, self._marked_send)
                describe("route", self._route())
                describe("status", self._status)
        except TooLarge:
            await self._answer(Problem(KINDS["too_large"], f"a request may have {_BODY_BYTES} bytes"))
        except ClientDisconnect:
            _LOG.info("the caller has gone", extra=self._about())
        except Exception:
            _LOG.exception("a fault", extra=self._about())
            await self._answer(fault())
        finally:
            TRACE.reset(token)

    def _is_too_large(self) -> bool:
        length = _header(self._scope, b"content-length") or ""
        return not self._is_upload and length.isdigit() and int(length) > _BODY_BYTES

    async def _bounded_receive(self) -> Message:
        message = await self._receive()
        if not self._is_upload:
            self._received += len(message.get("body", b""))
            self._is_over = self._received > _BODY_BYTES
            if self._is_over:
                raise TooLarge
        return message

    async def _marked_send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self._is_over:
                # Whoever read the body took the error for one of its form.
                self._is_over = False
                raise TooLarge
            self._status = message["status"]
            present = {name.lower() for name, _ in message.get("headers", [])}
            added = {**SAFE_HEADERS, "Trace-Id": self._trace}
            message["headers"] = [
                *message.get("headers", []),
                *(
                    (name.encode(), value.encode())
                    for name, value in added.items()
                    if name.lower().encode() not in present
                ),
            ]
            self._note()
        await self._send(message)

    async def _answer(self, problem: Problem) -> None:
        if self._status:
            return  # Half an answer cannot be taken back; the connection is closed.
        request = Request(self._scope)
        await respond(request, problem)(self._scope, self._receive, self._marked_send)

    def _note(self) -> None:
        seconds = time.perf_counter() - self._begun_s
        self._metrics.request(self._scope["method"], self._route(), self._status, seconds)
        _LOG.info("answered", extra={**self._about(), "status": self._status, "seconds": round(seconds, 4)})

    def _route(self) -> str:
        """The template of the address: figures must not grow with ids."""
        return getattr(self._scope.get("route"), "path", "none")

    def _about(self) -> dict[str, object]:
        key = self._scope.get("state", {}).get("key")
        things = self._scope.get("path_params", {})
        return {"method": self._scope["method"], "route": self._route(), **things, **({"key": key} if key else {})}


def _header(scope: Scope, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)
