"""Ctrl-C and SIGTERM ask a job to stop; a second one ends the program at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STDERR = 2


@contextmanager
def stop_on_signal() -> Generator[Callable[[], bool]]:
    """While the block runs, the two signals no longer end the program; the function given says whether one came."""
    stopped = False

    def on_signal(number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        # Not print: the signal may come in the middle of another line's writing.
        with suppress(OSError):
            os.write(_STDERR, b"\nmien: stopping; once more ends at once\n")
        signal.signal(number, before[number])

    before = {int(number): signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield lambda: stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
