"""Calls to a service: with the key, tried again where that is safe, and answered with mien's own errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from mien.errors import InstallationError, JobError, MienError, UsageError
from mien.installing import install_command
from mien.service.problems import TYPE_PREFIX, error_of

if TYPE_CHECKING:
    import httpx

_TRIES = 4
_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_TIMEOUT_S = 120.0
"""Of a silence; checking a request for a job may take a while."""
_PASSING = frozenset({429, 503})

Answer = TypeVar("Answer")
Body = Callable[[], Iterable[bytes]]


class Transport:
    """One service and one key. A context manager."""

    def __init__(self, url: str, key: str, *, transport: httpx.BaseTransport | None = None) -> None:
        """Args:
        url: the service's address, without a path.
        key: as `mien keys add` shows it.
        transport: instead of the network.

        Raises:
            UsageError: the address or the key makes no sense.
            InstallationError: the extra is not installed.
        """
        if find_spec("httpx") is None:
            raise InstallationError(f"calling a service needs an extra: {install_command('mien[client]')}")
        import httpx

        if not key.isascii() or not key.isprintable() or not key:
            raise UsageError("the key makes no sense: give it as `mien keys add` shows it, such as mien_...")
        try:
            self._client = httpx.Client(
                base_url=url,
                headers={"Authorization": f"Bearer {key}", "User-Agent": "mien"},
                timeout=_TIMEOUT_S,
                transport=transport,
            )
        except (httpx.InvalidURL, TypeError, ValueError) as error:
            raise UsageError(
                f"the service's address '{url}' makes no sense: give http://host:port ({error})"
            ) from error
        self.url = url

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str | int] | None = None,
    ) -> Any:
        """One call, and what it is answered with (None for nothing).

        What changes something is tried again as well: the service tells a repetition by its Idempotency-Key, or
        because nothing is left to change.

        Raises:
            MienError: what the service's problem stands for; a `JobError` if it does not answer.
        """

        def once() -> Any:
            response = self._client.request(
                method, path, json=json, content=None if body is None else body(), headers=headers, params=params
            )
            self._check(response)
            return response.json() if response.content else None

        return self._patiently(once)

    def bytes(self, path: str) -> bytes:
        """The whole of a small file.

        Raises:
            MienError: see `call`.
        """

        def once() -> bytes:
            response = self._client.get(path)
            self._check(response)
            return response.content

        return self._patiently(once)

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str]) -> Generator[httpx.Response]:
        """An answer that is read while it comes. What breaks it off is the caller's to take up.

        Raises:
            MienError: see `call`.
            ConnectionError: the connection broke.
        """
        import httpx

        try:
            # Packed by somebody on the way, positions in the file would not be those of the ranges.
            asked = {"Accept-Encoding": "identity", **headers}
            with self._client.stream("GET", path, headers=asked) as response:
                if response.is_error:
                    response.read()
                self._check(response)
                yield response
        except httpx.TransportError as error:
            raise ConnectionError(str(error) or type(error).__name__) from error

    def _check(self, response: httpx.Response) -> None:
        if response.status_code in _PASSING:
            raise _Passing(_error_of(response), _seconds(response.headers.get("retry-after")))
        if not response.is_success:
            raise _error_of(response)

    def _patiently(self, once: Callable[[], Answer]) -> Answer:
        import httpx

        for tries_left in reversed(range(_TRIES)):
            pause_s = _PAUSE_S * 2 ** (_TRIES - 1 - tries_left)
            try:
                return once()
            except _Passing as passing:
                if not tries_left or passing.pause_s > _LONGEST_PAUSE_S:
                    raise passing.error from None
                pause_s = max(pause_s, passing.pause_s)
            except httpx.TransportError as error:
                if not tries_left:
                    self._lost(error)
            time.sleep(pause_s)
        raise AssertionError

    def _lost(self, error: Exception) -> NoReturn:
        words = str(error) or type(error).__name__
        raise JobError(f"the service at {self.url} does not answer ({words}): is it running, and the address right?")


class _Passing(MienError):
    """A refusal that is worth another try."""

    def __init__(self, error: MienError, pause_s: float) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause_s = pause_s


def _seconds(header: str | None) -> float:
    return float(header) if header and header.isdigit() else 0.0


def _error_of(response: httpx.Response) -> MienError:
    try:
        problem = response.json()
        kind, detail = str(problem["type"]).removeprefix(TYPE_PREFIX), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return JobError(f"the service answers {response.status_code}, but not as mien does: is the address right?")
    return error_of(kind, detail)
