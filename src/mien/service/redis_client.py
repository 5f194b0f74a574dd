"""The connection to Redis or Valkey, and the atomic steps that run there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import BusyLoadingError, ConnectionError, TimeoutError
from redis.retry import Retry

from mien.errors import JobError, UsageError

PREFIX = "mien:"
_OUTAGE_TRIES = 40
"""With the pauses below, about 35 s: a server that is restarted is waited for."""
_SOCKET_TIMEOUT_S = 20.0
_CONNECTIONS = 1000
"""The most of one process. Each listener of the API waits on one of its own; redis-py's own bound is 100."""


class Client(redis.Redis):
    """Says in mien's words that the server does not answer."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Send one command.

        Raises:
            JobError: no connection, although it was waited for.
        """
        try:
            return super().execute_command(*args, **options)
        except (ConnectionError, TimeoutError) as error:
            raise JobError(f"the queue's server does not answer: {error}") from error


def connect(url: str) -> redis.Redis:
    """A client that waits for a server that is being restarted. Safe to use from several threads.

    Args:
        url: `redis://host:port/0`, `rediss://...` or `unix:///path`.

    Raises:
        UsageError: the address makes no sense.
    """
    retry = Retry(ExponentialBackoff(cap=1.0, base=0.05), _OUTAGE_TRIES)
    try:
        return Client.from_url(
            url,
            decode_responses=True,
            retry=retry,
            retry_on_error=[ConnectionError, TimeoutError, BusyLoadingError],
            socket_timeout=_SOCKET_TIMEOUT_S,
            socket_connect_timeout=2.0,
            max_connections=_CONNECTIONS,
        )
    except ValueError as error:
        raise UsageError(f"the queue's address {url} makes no sense: give redis://host:port ({error})") from error


class Scripts:
    """The atomic steps, by name. Each says in its file what it takes and gives."""

    def __init__(self, client: redis.Redis, prefix: str = PREFIX) -> None:
        self._client = client
        self._prefix = prefix
        self._scripts: dict[str, Any] = {}

    def run(self, name: str, *arguments: Any) -> Any:
        """Run one. It is sent again after a lost connection: all are written so that twice is once.

        Raises:
            JobError: the server does not answer, or refuses it.
        """
        if name not in self._scripts:
            self._scripts[name] = self._client.register_script(_source(name))
        try:
            return self._scripts[name](keys=[self._prefix], args=_plain(arguments))
        except redis.RedisError as error:
            raise JobError(f"the queue's server does not do what it is asked ({name}): {error}") from error


def _plain(arguments: Sequence[Any]) -> list[str | int | float]:
    return [argument if isinstance(argument, int | float) else str(argument) for argument in arguments]


@cache
def _source(name: str) -> str:
    folder = files("mien.service") / "scripts"
    return "".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in ("common", name))
