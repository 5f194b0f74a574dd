"""How commands reach the queue of a service: the embedded one by its folder, another by its address."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mien.errors import InstallationError
from mien.installing import install_command

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


def queue_folder(data: Path) -> Path:
    """Where the embedded queue keeps its own."""
    return data / "queue"


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
    from mien.service.valkey import EmbeddedValkey

    if options.queue is not None:
        yield State.at(options.queue)
        return
    queue = EmbeddedValkey(queue_folder(options.data))
    if _is_served(queue_folder(options.data) / "valkey.sock"):
        yield State.at(queue.url)
        return
    with queue:
        yield State.at(queue.url)


def _is_served(path: Path) -> bool:
    """Whether somebody listens on a socket."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path.absolute()))
        except OSError:
            return False
        return True
