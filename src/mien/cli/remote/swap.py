"""`mien remote swap`: `mien swap`, done by a service."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from mien.cli import swap
from mien.errors import UnreadableError, UsageError

if TYPE_CHECKING:
    from mien.client import Client
    from mien.pipeline.progress import ProgressCallback
    from mien.recipe import Recipe
    from mien.report import Report

USAGE = "mien remote swap [options] SOURCE... TARGET -o OUT"
DESCRIPTION = """\
As `mien swap`, done by a service: files are sent there, the result is fetched, and nothing stays behind. Options that
concern the machine, such as --device, are for the service to say."""
EXAMPLES = """\
  mien remote swap me.jpg clip.mp4 -o result.mp4 --service https://mien.example --key-file mien.key
  MIEN_SERVICE=https://mien.example MIEN_KEY=mien_... mien remote swap me.jpg "clips/*.mp4" -o results"""

_SERVICE_VARIABLE, _KEY_VARIABLE = "MIEN_SERVICE", "MIEN_KEY"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    swap.add_arguments(parser)
    there = parser.add_argument_group("where it is done")
    there.add_argument("--service", metavar="URL", help=f"the service's address (${_SERVICE_VARIABLE})")
    # No option takes the key itself: everybody on a machine can read the command lines of all.
    there.add_argument("--key-file", metavar="FILE", help=f"file with the key and nothing else (${_KEY_VARIABLE})")
    there.add_argument("--tier", choices=("batch", "realtime", "preview"), default="batch", help="how (batch)")
    there.add_argument("--priority", choices=("high", "normal", "low"), default="normal", help="how soon (normal)")


def run(options: argparse.Namespace) -> int:
    """Do the job, or all jobs; exit codes are those of `mien swap`."""
    if options.policy is not None:
        raise UsageError("--policy: the service has a policy of its own; leave it out")
    url = options.service or os.environ.get(_SERVICE_VARIABLE)
    if not url:
        raise UsageError(f"no service: give its address with --service, or in ${_SERVICE_VARIABLE}")
    key = _key(options.key_file)
    return swap.swap_all(options, lambda: _There(url, key, options.tier, options.priority))


class _There:
    """Runs recipes on a service. A context manager."""

    def __init__(self, url: str, key: str, tier: str, priority: str) -> None:
        from mien.client import Client

        self._client: Client = Client(url, key)
        self._tier = tier
        self._priority = priority

    def run(self, recipe: Recipe, *, progress: ProgressCallback, cancelled: Callable[[], bool]) -> Report:
        return self._client.run(
            recipe, progress=progress, cancelled=cancelled, tier=self._tier, priority=self._priority
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()


def _key(path: str | None) -> str:
    if path is not None:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableError(f"the key file {path} cannot be read: {error}") from error
    if key := os.environ.get(_KEY_VARIABLE, "").strip():
        return key
    raise UsageError(f"no key: give --key-file FILE, or set ${_KEY_VARIABLE}")
