"""The service's side of looking into uploads: processes that are bounded, replaced when they fail, and kept warm."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from mien.service.problems import KINDS, Problem, refuse

_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
_KEPT_PREFIXES = ("MIEN_", "LC_", "XDG_")
"""What the process inherits: nothing that opens storage or the queue."""
Answer = TypeVar("Answer")

_START_S = 120.0
"""Networks are compiled at the first start on a machine."""
_BUSY_S = 30.0
"""How long a request waits for its turn."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What looking at one upload may take."""

    seconds: float = 30.0
    memory_bytes: int = 2_000_000_000
    """Private memory of the process, of which its networks take about 0.5 GB."""
    max_pixels: int = 100_000_000
    """Of a picture or a frame."""
    requests: int = 500
    """After so many the process is replaced: what a decoder leaked or broke goes with it."""


class Inspector:
    """Looks into files and jobs. Safe to use from several threads; a context manager."""

    def __init__(self, bounds: Bounds | None = None, *, processes: int = 1) -> None:
        self._bounds = bounds or Bounds()
        self._idle: queue.LifoQueue[_Process] = queue.LifoQueue()
        self._all = [_Process(self._bounds) for _ in range(processes)]
        for process in self._all:
            self._idle.put(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in self._all:
            process.stop()

    def warm(self) -> None:
        """Start processes before somebody waits for one.

        Raises:
            Problem: unavailable, if one does not start.
        """
        for _ in self._all:
            self._with(self._take(), lambda process: process.start())

    @property
    def ready(self) -> bool:
        """Whether at least one process has its networks loaded."""
        return any(process.running for process in self._all)

    def media(self, folder: str, name: str) -> dict[str, Any]:
        """Facts of a file; see `look`.

        Raises:
            Problem: it cannot be read, takes too long or too much memory, or is too large.
        """
        return self._ask({"what": "media", "folder": folder, "name": name, "max_pixels": self._bounds.max_pixels})

    def plan(self, folder: str, recipe: Mapping[str, Any]) -> dict[str, Any]:
        """What a job would do; its files lie in `folder` under the names in the recipe.

        Raises:
            Problem: it cannot be done.
        """
        return self._ask({"what": "plan", "folder": folder, "recipe": dict(recipe)})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self._with(self._take(), lambda process: process.ask(request))
        if "problem" in answer:
            raise Problem(KINDS[answer["problem"]], answer["detail"])
        if "fault" in answer:
            refuse("unreadable_media", f"the file cannot be read ({answer['fault']:.200}): is it damaged?")
        return answer["facts"]

    def _take(self) -> _Process:
        try:
            return self._idle.get(timeout=_BUSY_S)
        except queue.Empty:
            refuse("unavailable", "too many uploads are being looked at: try again in a moment", retry_after_s=5)

    def _with(self, process: _Process, use: Callable[[_Process], Answer]) -> Answer:
        try:
            return use(process)
        finally:
            self._idle.put(process)


class _Process:
    """One inspecting process; started when it is needed, and again after it was stopped."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0
        self._buffer = b""

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        if self.running:
            return
        self.stop()
        self._process = subprocess.Popen(
            # -P and the working folder: nothing is imported from where the service was started.
            [sys.executable, "-P", "-m", "mien.service.inspection.child", str(self._bounds.memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
            cwd="/",
            # Ctrl-C at the terminal is the service's to handle.
            start_new_session=True,
        )
        self._asked, self._buffer = 0, b""
        if self._read(_START_S) != {"ready": True}:
            self.stop()
            refuse("unavailable", "the process that looks into uploads does not start: see the service's log")

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._read(self._bounds.seconds)
        self._asked += 1
        # A process in which something went wrong is not trusted with the next file.
        if answer is None or "fault" in answer or self._asked >= self._bounds.requests:
            self.stop()
        return answer or {"problem": "unreadable_media", "detail": self._why_lost()}

    def _why_lost(self) -> str:
        return (
            f"looking at it took more than {self._bounds.seconds:g} s or {self._bounds.memory_bytes // 1_000_000} MB, "
            "or broke the decoder: re-encode it"
        )

    def _read(self, seconds: float) -> dict[str, Any] | None:
        """The next line; None if the process ends or takes longer."""
        assert self._process is not None
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        end_s = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([pipe], [], [], max(end_s - time.monotonic(), 0))
            if not ready or not (data := os.read(pipe, 65536)):
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)


def _environment() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if name in _KEPT_VARIABLES or name.startswith(_KEPT_PREFIXES)
    }
