"""What the commands of the service share."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mien.errors import UsageError

if TYPE_CHECKING:
    from mien.service.storage import Storage

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def wait_for_signal() -> Generator[Callable[[], object]]:
    """While the block runs, Ctrl-C and SIGTERM end the wait that is given; a second one ends the program at once."""
    came = threading.Event()

    def on_signal(number: int, _frame: object) -> None:
        came.set()
        signal.signal(number, before[number])

    before = {int(number): signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield came.wait
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def open_storage(place: str) -> Storage:
    """The storage that an option names.

    Raises:
        UsageError: it names none.
        UnwritableError: the folder cannot be made.
        InstallationError: it needs an extra.
    """
    if place.startswith("s3://"):
        from mien.service.s3 import S3Storage

        return S3Storage(place)
    if "://" in place:
        raise UsageError(f"--storage {place}: give a folder, or s3://BUCKET/PREFIX")
    from mien.service.folder import FolderStorage

    return FolderStorage(place)


def check_positive(options: argparse.Namespace, *names: str) -> None:
    """Check that numbers make sense.

    Raises:
        UsageError: one is not above 0.
    """
    for name in names:
        if getattr(options, name) <= 0:
            raise UsageError(f"--{name} {getattr(options, name)}: give a number above 0")
