"""The API behind a socket, on a thread of its own."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn

from mien.errors import JobError, UsageError
from mien.service.api.app import make_app
from mien.service.api.front import Front

_GRACE_S = 10
"""How long answers that were begun may go on when the service stops."""
_BACKLOG = 1024
_START_S = 60.0
_LOOK_EVERY_S = 0.02


class ApiServer:
    """Serves from `with` to the end of the block."""

    def __init__(self, front: Front, *, host: str = "127.0.0.1", port: int = 0) -> None:
        """Choose where; port 0 takes a free one."""
        self._app = make_app(front)
        self._host = host
        self._port = port
        config = uvicorn.Config(
            self._app,
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="mien-api")

    def __enter__(self) -> Self:
        """Start it.

        Raises:
            UsageError: nothing can listen there.
            JobError: it does not start; the log says why.
        """
        self._socket = _listen(self._host, self._port)
        self._port = self._socket.getsockname()[1]
        self._thread.start()
        # uvicorn says that it has started by a flag only.
        done = threading.Event()
        for _ in range(int(_START_S / _LOOK_EVERY_S)):
            if self._server.started or not self._thread.is_alive():
                break
            done.wait(_LOOK_EVERY_S)
        if not self._server.started:
            self.__exit__(None, None, None)
            raise JobError("the API does not start: see the log above")
        return self

    @property
    def url(self) -> str:
        """Its address on this machine."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # Who follows a job would be waited for otherwise.
        self._app.state.stopping.set()
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With the protocol told, so that small answers are not held back to be sent together.
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host} port {port}: {error.strerror}; give another --host or --port"
        ) from error
    return listener
