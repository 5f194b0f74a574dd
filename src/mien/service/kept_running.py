"""A process that is started again when it ends by itself, and asked to end with the block."""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

_LOG = logging.getLogger(__name__)


class KeptRunning:
    """Runs from `with` to the end of the block."""

    def __init__(self, command: Sequence[str], *, again_s: float, stop_s: float) -> None:
        """Args:
        command: the program and its arguments.
        again_s: pause before it is started again.
        stop_s: how long it may take to end after SIGTERM, before it is killed.
        """
        self._command = list(command)
        self._again_s = again_s
        self._stop_s = stop_s
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes]
        self._thread = threading.Thread(target=self._watch, name="mien-kept-running", daemon=True)

    @property
    def process_id(self) -> int:
        """Of the process that runs now."""
        return self._process.pid

    def __enter__(self) -> Self:
        self._process = self._start()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._ending.set()
            self._process.terminate()
        try:
            self._process.wait(self._stop_s)
        except subprocess.TimeoutExpired:
            _LOG.error("process %d does not end: it is killed", self._process.pid)
            self._process.kill()
            self._process.wait()
        self._thread.join()

    def _start(self) -> subprocess.Popen[bytes]:
        # Ctrl-C at the terminal is ours: the process is asked to end in its turn.
        return subprocess.Popen(self._command, start_new_session=True)

    def _watch(self) -> None:
        while not self._ending.is_set():
            code = self._process.wait()
            if self._ending.is_set():
                return
            _LOG.error("process %d ended with %d: it is started again", self._process.pid, code)
            self._ending.wait(self._again_s)
            with self._lock:
                if not self._ending.is_set():
                    self._process = self._start()
