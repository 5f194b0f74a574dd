"""Storage in a bucket of S3, or of anything that speaks its protocol. Needs the extra `mien[s3]`.

Credentials and region are found as all programs that use S3 find them: environment, profile, or the machine's role.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from mien.errors import InstallationError, MediaError, UnreadableError, UnwritableError, UsageError
from mien.service.storage import Stored

_PIECE_BYTES = 1 << 20
_PART_BYTES = 16 << 20
"""Of an upload in parts: 10,000 parts, the most that S3 takes, are then 160 GB."""
_TRIES = 8
_CONNECT_S, _READ_S = 5.0, 60.0


class S3Storage:
    """Files under one prefix of a bucket. Safe to use from several threads."""

    def __init__(self, url: str) -> None:
        """Open it; nothing is asked of the server yet.

        Args:
            url: `s3://bucket/prefix`, with `?endpoint=https://host` where it is not Amazon's.

        Raises:
            UsageError: the address makes no sense.
            InstallationError: the extra is not installed.
        """
        parts = urlsplit(url)
        if parts.scheme != "s3" or not parts.netloc:
            raise UsageError(f"the storage '{url}' makes no sense: give s3://bucket/prefix")
        self._bucket = parts.netloc
        prefix = parts.path.strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        endpoint = parse_qs(parts.query).get("endpoint", [None])[0]
        self._client = _client(endpoint)

    def put(self, path: Path, key: str) -> None:
        """Store a file, a large one in parts; see `Storage`."""
        from boto3.s3.transfer import TransferConfig

        with _writing(key):
            self._client.upload_file(
                str(path), self._bucket, self._prefix + key, Config=TransferConfig(multipart_chunksize=_PART_BYTES)
            )

    def read(self, key: str, first: int = 0, size: int | None = None) -> Iterator[bytes]:
        """The bytes of a file; see `Storage`. A connection that breaks is taken up where it broke."""
        return _read(self._client, self._bucket, self._prefix + key, first, size)

    def delete(self, key: str) -> None:
        """Remove a file; see `Storage`."""
        with _writing(key):
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key)

    def list(self, prefix: str = "") -> Iterator[Stored]:
        """Files by the beginning of their keys; see `Storage`."""
        with _reading(prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix + prefix
            )
            for page in pages:
                for entry in page.get("Contents", []):
                    key = entry["Key"].removeprefix(self._prefix)
                    yield Stored(key, entry["Size"], entry["LastModified"].timestamp())


def read_link(link: str) -> Iterator[bytes]:
    """The bytes of `s3://bucket/key`.

    Raises:
        UnreadableError: there is no such file, or it cannot be read.
        InstallationError: the extra is not installed.
    """
    parts = urlsplit(link)
    return _read(_client(None), parts.netloc, unquote(parts.path).lstrip("/"), 0, None)


def _read(client: Any, bucket: str, key: str, first: int, size: int | None) -> Iterator[bytes]:
    end = None if size is None else first + size
    if end == first:
        return
    for tries_left in reversed(range(_TRIES)):
        try:
            for piece in _pieces(client, bucket, key, first, end):
                first += len(piece)
                yield piece
            return
        except MediaError as error:
            if _is_past_the_end(error.__cause__):
                return
            raise
        except Exception as error:
            # The library's own tries end where the body begins.
            if not tries_left:
                raise UnreadableError(f"{key} cannot be read from the bucket {bucket}: {error}") from error


def _pieces(client: Any, bucket: str, key: str, first: int, end: int | None) -> Iterator[bytes]:
    # A range from 0 is an error for an empty file.
    span = {} if first == 0 and end is None else {"Range": f"bytes={first}-{'' if end is None else end - 1}"}
    with _reading(key):
        answer = client.get_object(Bucket=bucket, Key=key, **span)
    left = int(answer["ContentLength"])
    with answer["Body"] as body:
        while piece := body.read(_PIECE_BYTES):
            left -= len(piece)
            yield piece
    if left:
        raise ConnectionError(f"the connection ended {left} bytes early")


def _is_past_the_end(error: BaseException | None) -> bool:
    return getattr(error, "response", {}).get("Error", {}).get("Code") == "InvalidRange"


_lock = threading.Lock()


def _client(endpoint: str | None) -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise InstallationError("storage in S3 needs an extra: pip install 'mien[s3]'") from error
    config = Config(
        retries={"max_attempts": _TRIES, "mode": "standard"}, connect_timeout=_CONNECT_S, read_timeout=_READ_S
    )
    with _lock:  # Making clients is not safe from several threads; using them is.
        return boto3.Session().client("s3", endpoint_url=endpoint, config=config)


@contextmanager
def _writing(key: str) -> Generator[None]:
    """Whatever the library raises, as the storage's own error."""
    try:
        yield
    except OSError as error:
        raise UnwritableError(f"{key} cannot be stored: {error.strerror or error}") from error
    except _library_errors() as error:
        raise UnwritableError(f"the bucket does not take {key}: {error}") from error


@contextmanager
def _reading(key: str) -> Generator[None]:
    try:
        yield
    except _library_errors() as error:
        raise UnreadableError(f"{key} cannot be read from the bucket: {error}") from error


def _library_errors() -> tuple[type[Exception], ...]:
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    return Boto3Error, BotoCoreError, ClientError
