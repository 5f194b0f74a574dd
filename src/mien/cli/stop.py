"""Ctrl-C and SIGTERM ask a job to stop; a second one ends the program at once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signal() -> Generator[Callable[[], bool]]:
    """While the block runs, the two signals no longer end the program; the function given says whether one came."""
    stopped = False

    def on_signal(number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        signal.signal(number, before[number])

    before = {int(number): signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield lambda: stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
