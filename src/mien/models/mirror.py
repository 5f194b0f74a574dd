"""Where files are downloaded from: web servers and folders, read from any place on."""

from __future__ import annotations

import base64
import http.client
import re
import ssl
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, url2pathname

from mien import __version__
from mien.errors import ModelError, UsageError

TIMEOUT_S = 30.0
"""Longest silence of a server."""
MAX_REDIRECTS = 5
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may be gone a moment later."""


class Interruption(Exception):
    """The transfer broke off or could not start, for a reason that may pass."""


class Readable(Protocol):
    """Bytes in order."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` of the next bytes; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Transfer:
    """A file on its way."""

    stream: Readable
    first: int
    """Place in the file where the stream begins: the one asked for, or 0 where the server knows no ranges."""
    total: int | None
    """Size of the whole file, if it is told."""


class Source(Protocol):
    """A file that can be read from any place on."""

    @property
    def url(self) -> str:
        """For people: without passwords."""
        ...

    @property
    def remote(self) -> bool:
        """Whether reading it touches the network."""
        ...

    def open(self, first: int) -> AbstractContextManager[Transfer]:
        """The file from the byte `first` on.

        Raises:
            Interruption: not now, perhaps later. Reading may raise it, too.
            ModelError: the file is not there, or may not be read.
        """
        ...


def source_at(mirror: str, file: str) -> Source:
    """The file of that name on a mirror.

    Args:
        mirror: `https://host/folder`, `http://...`, `file:///folder`, or a folder's path. A name and password may stand
            before the host.
        file: Name of the file.

    Raises:
        UsageError: the mirror is none of these.
    """
    parts = urlsplit(mirror)
    if parts.scheme in ("http", "https") and parts.hostname:
        return HttpSource(f"{mirror.rstrip('/')}/{quote(file)}")
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return FileSource(Path(url2pathname(parts.path)) / file)
    if Path(mirror).is_dir():
        return FileSource(Path(mirror) / file)
    raise UsageError(
        f"{_without_password(mirror)} is no mirror: give an http, https or file URL, or a folder that exists"
    )


class FileSource:
    """A file of this machine."""

    remote = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.url = str(path)

    @contextmanager
    def open(self, first: int) -> Generator[Transfer]:
        """The file from the byte `first` on; from the start if it is shorter."""
        try:
            file = self._path.open("rb")
        except OSError as error:
            raise ModelError(f"{self._path} cannot be read ({error.strerror}): is it the right mirror?") from error
        with file:
            total = file.seek(0, 2)
            first = file.seek(first if first <= total else 0)
            yield Transfer(file, first, total)


class HttpSource:
    """A file on a web server. Proxies are those of the environment."""

    remote = True

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S) -> None:
        self.url = _without_password(url)
        self._timeout_s = timeout_s
        self._headers = {"User-Agent": f"mien/{__version__}", "Accept-Encoding": "identity"}
        self._authorization = _authorization(url)

    @contextmanager
    def open(self, first: int) -> Generator[Transfer]:
        """The file from the byte `first` on; from the start if the server knows no ranges."""
        with _patiently(self.url):
            response = self._request(first)
        with response:
            place, total = _extent(response)
            yield Transfer(_Body(response, self.url), place, total)

    def _request(self, first: int) -> http.client.HTTPResponse:
        request = Request(self.url, headers=self._headers)
        if self._authorization:
            request.add_unredirected_header("Authorization", self._authorization)
        if first:
            request.add_header("Range", f"bytes={first}-")
        try:
            return build_opener(_Redirects).open(request, timeout=self._timeout_s)
        except HTTPError as error:
            with error:
                if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and first:
                    return self._request(0)
                raise _refusal(error, self.url) from error


class _Body:
    """A response whose breaking off is an interruption."""

    def __init__(self, response: http.client.HTTPResponse, url: str) -> None:
        self._response = response
        self._url = url

    def read(self, size: int, /) -> bytes:
        with _patiently(self._url):
            return self._response.read(size)


class _Redirects(HTTPRedirectHandler):
    """Follows a few redirects, and none that gives up encryption."""

    max_redirections = MAX_REDIRECTS

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> Request | None:
        schemes = ("https",) if req.type == "https" else ("http", "https")
        if urlsplit(newurl).scheme not in schemes:
            raise ModelError(f"{req.full_url} redirects to {_without_password(newurl)}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def _patiently(url: str) -> Generator[None]:
    """Turn what the network raises into an interruption, or into an error that waiting does not mend."""
    try:
        yield
    except URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise ModelError(f"{url} cannot be trusted: {error.reason.verify_message}") from error
        raise Interruption(f"{url} cannot be reached: {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise Interruption(f"{url} broke off: {error or type(error).__name__}") from error


def _refusal(error: HTTPError, url: str) -> Exception:
    if error.code in _TRY_AGAIN:
        return Interruption(f"{url} answers {error.code} {error.reason}")
    if 300 <= error.code < 400:
        return ModelError(f"{url} redirects in circles or more than {MAX_REDIRECTS} times")
    return ModelError(f"{url} answers {error.code} {error.reason}: is it the right mirror?")


def _extent(response: http.client.HTTPResponse) -> tuple[int, int | None]:
    """Where the body begins in the file, and the file's size."""
    if response.status == http.client.PARTIAL_CONTENT:
        told = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        if told is None:
            raise Interruption("the server sends a part of the file and does not say which")
        return int(told[1]), None if told[2] == "*" else int(told[2])
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _authorization(url: str) -> str | None:
    named = urlsplit(url).netloc.rpartition("@")[0]
    return f"Basic {base64.b64encode(unquote(named).encode()).decode()}" if named else None
