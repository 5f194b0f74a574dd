"""How commands reach the queue of a service: the embedded one by its folder, another by its address."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mien.errors import InstallationError
from mien.installing import install_command
from mien.media.files import writing
from mien.models.lock import try_lock

if TYPE_CHECKING:
    from mien.service.state import State

DATA = Path("mien-data")
"""Folder of a service that names no other."""


def add_place(parser: argparse.ArgumentParser) -> None:
    """Declare `--data` and `--queue`."""
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="FOLDER", help=f"the service's folder ({DATA} in this one)"
    )
    parser.add_argument("--queue", metavar="URL", help="redis://, rediss:// or unix:// address (embedded in --data)")


def need_service() -> None:
    """Check that what the service is made of is installed.

    Raises:
        InstallationError: it is not.
    """
    if missing := [name for name in ("redis", "fastapi", "uvicorn", "dramatiq") if find_spec(name) is None]:
        raise InstallationError(
            f"the service needs an extra ({missing[0]} is missing): {install_command('mien[service]')}"
        )


@contextmanager
def opened_queue(options: argparse.Namespace) -> Generator[State]:
    """The state of the service that the options name. An embedded queue that does not run is started meanwhile.

    Raises:
        MienError: it cannot be reached or started, or the extra is not installed.
    """
    need_service()
    from mien.service.state import State

    if options.queue is not None:
        yield State.at(options.queue)
        return
    with embedded_queue(options.data) as (url, _):
        yield State.at(url)


@contextmanager
def embedded_queue(data: Path) -> Generator[tuple[str, bool]]:
    """Address of the embedded queue in a folder, and whether it runs for this process: else another one has it.

    Raises:
        MienError: it cannot be started.
    """
    from mien.service.valkey import EmbeddedValkey

    folder = data / "queue"
    queue = EmbeddedValkey(folder)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (folder / ".lock").open("ab")
    with lock:
        if not try_lock(lock):
            yield queue.url, False
            return
        with queue:
            yield queue.url, True
