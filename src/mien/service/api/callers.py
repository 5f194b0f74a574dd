"""Who calls: the key of a request, what it permits, and whether it is its turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from mien.service.api.front import Front
from mien.service.keys import ApiKey, Scope
from mien.service.problems import refuse
from mien.service.records import TenantId

_bearer = HTTPBearer(auto_error=False, description="A key of `mien keys add`.")


def front_of(request: Request) -> Front:
    """The parts of this API."""
    return request.app.state.front


def tenant_of(key: ApiKey) -> TenantId:
    """Whose things a key sees."""
    return TenantId(key.tenant)


def allow(scope: Scope) -> Callable[..., ApiKey]:
    """A dependency that gives the caller's key if it permits `scope` and has not called too often."""

    def check(
        request: Request,
        response: Response,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> ApiKey:
        front = front_of(request)
        now_s = front.clock()
        if credentials is None:
            refuse("unauthorised", "no key: give one as 'Authorization: Bearer mien_...'")
        key = front.keyring.check(credentials.credentials, now_s)
        request.state.key = key.id
        turn = front.usage.take_turn(key, now_s)
        response.headers["RateLimit-Remaining"] = str(turn.remaining)
        if scope not in key.scopes:
            refuse("forbidden", f"the key has no scope '{scope}': ask the operator for one that has", scope=scope)
        return key

    return check


FrontOf = Annotated[Front, Depends(front_of)]
ReadsAssets = Annotated[ApiKey, Depends(allow("assets:read"))]
WritesAssets = Annotated[ApiKey, Depends(allow("assets:write"))]
ReadsJobs = Annotated[ApiKey, Depends(allow("jobs:read"))]
WritesJobs = Annotated[ApiKey, Depends(allow("jobs:write"))]
