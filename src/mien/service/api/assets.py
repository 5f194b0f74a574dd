"""`/v1/assets`: files of a tenant."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Query, Request, Response

from mien.service.api import schemas
from mien.service.api.answers import problems
from mien.service.api.callers import FrontOf, ReadsAssets, WritesAssets, tenant_of
from mien.service.api.front import Front
from mien.service.api.once import KEY_PATTERN, once
from mien.service.api.shown import show_asset
from mien.service.api.waiting import in_line
from mien.service.keys import ApiKey
from mien.service.library import Kept, Upload
from mien.service.problems import refuse
from mien.service.quotas import check_stored, check_upload
from mien.service.records import AssetId, new_id

router = APIRouter(prefix="/v1/assets", tags=["assets"])

_PIECE_BYTES = 1 << 20
_PATIENCE_S = 60.0
"""Longest pause of a sender."""

_BODY = {
    "requestBody": {
        "required": True,
        "description": "The file's bytes.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post(
    "",
    status_code=201,
    summary="Upload a picture or video",
    responses=problems(401, 403, 408, 409, 413, 415),
    openapi_extra=_BODY,
)
async def upload(
    request: Request,
    front: FrontOf,
    key: WritesAssets,
    name: Annotated[str, Query(max_length=200, description="As you call it.")] = "file",
    idempotency_key: Annotated[str | None, Header(pattern=KEY_PATTERN)] = None,
) -> schemas.Asset:
    """The body is the file itself. What it is, is told by its content: the name and the type that is sent do not
    matter. It is looked into before it is kept."""
    length = request.headers.get("content-length", "")
    if length.isdigit():
        check_upload(int(length), key.limits)
        await run_sync(_check_room, front, key, int(length))
    with tempfile.TemporaryDirectory(dir=front.library.folder) as folder:
        arrived = await _receive(request.stream(), Path(folder) / "upload", name, key)
        kept = await in_line(request, lambda: _keep(front, key, arrived, idempotency_key))
    return show_asset(kept)


@router.get("", summary="List assets", responses=problems(401, 403))
def list_assets(
    front: FrontOf,
    key: ReadsAssets,
    first: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    count: Annotated[int, Query(ge=1, le=100)] = 50,
) -> schemas.AssetList:
    """The tenant's, newest first."""
    return schemas.AssetList(
        assets=[show_asset(kept) for kept in front.library.all(tenant_of(key), first=first, count=count)]
    )


@router.get("/{asset}", summary="Show an asset", responses=problems(401, 403, 404))
def show(front: FrontOf, key: ReadsAssets, asset: str) -> schemas.Asset:
    """What is known of it."""
    return show_asset(front.library.find(tenant_of(key), asset))


@router.delete("/{asset}", status_code=204, summary="Delete an asset", responses=problems(401, 403, 404, 409))
def delete(front: FrontOf, key: WritesAssets, asset: str) -> Response:
    """The file, what is known of it, and what was made of it are gone when this returns."""
    kept = front.library.find(tenant_of(key), asset)
    front.library.delete(kept)
    front.audit.append("asset.deleted", key=key.id, tenant=key.tenant, asset=kept.asset.id)
    return Response(status_code=204)


def _check_room(front: Front, key: ApiKey, size_bytes: int) -> None:
    check_stored(front.usage.stored_bytes(key.id) + size_bytes, key.limits)


def _keep(front: Front, key: ApiKey, arrived: Upload, idempotency_key: str | None) -> Kept:
    def keep(asset: str) -> Kept:
        kept = front.library.keep(key, arrived, AssetId(asset), front.clock())
        front.audit.append("asset.added", key=key.id, tenant=key.tenant, asset=kept.asset.id, sha256=kept.asset.sha256)
        front.metrics.uploaded(arrived.size_bytes)
        return kept

    body = f"asset {arrived.sha256} {arrived.name}".encode()
    return once(front, key, idempotency_key, body, lambda: new_id("asset"), keep)


async def _receive(stream: AsyncIterator[bytes], path: Path, name: str, key: ApiKey) -> Upload:
    """Write what arrives to a file, piece by piece."""
    digest, size = hashlib.sha256(), 0

    def take(piece: bytes) -> None:
        digest.update(piece)
        file.write(piece)

    with path.open("wb") as file:
        waiting = bytearray()
        async for data in _patient(stream):
            size += len(data)
            check_upload(size, key.limits)
            waiting += data
            if len(waiting) >= _PIECE_BYTES:
                await run_sync(take, bytes(waiting))
                waiting.clear()
        await run_sync(take, bytes(waiting))
    return Upload(path, name, size, digest.hexdigest())


async def _patient(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The stream, as long as it flows.

    Raises:
        Problem: too_slow.
    """
    while True:
        data: bytes | None = None
        with anyio.move_on_after(_PATIENCE_S) as patience:
            data = await anext(stream, None)
        if patience.cancelled_caught:
            refuse("too_slow", f"nothing of the upload arrived for {_PATIENCE_S:g} s: send it again")
        if data is None:
            return
        yield data
