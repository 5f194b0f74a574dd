"""The trace id of a request (W3C Trace Context): the caller's, or a new one."""

from __future__ import annotations

import re
import secrets

from starlette.requests import HTTPConnection

_PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


def choose_trace(header: str | None) -> str:
    """The trace id in a `traceparent` header, or a new one where there is none that can be used."""
    match = _PARENT.fullmatch(header or "")
    return match[1] if match and int(match[1], 16) else secrets.token_hex(16)


def trace_of(request: HTTPConnection) -> str:
    """The id that was chosen for a request."""
    return request.scope["state"]["trace"]
