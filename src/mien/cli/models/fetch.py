"""`mien models fetch`: the only command that downloads, and only when it is given."""

from __future__ import annotations

import argparse

from mien.cli.console import complain, format_bytes
from mien.cli.models.common import add_folders, add_profile, open_store
from mien.errors import UsageError

USAGE = "mien models fetch [options] ID --from MIRROR"
DESCRIPTION = """\
Download a network from a mirror that you name, to mien's folder of downloads. What breaks off goes on where it was when
the command is given again. A file whose SHA-256 is not the expected one is refused."""
EXAMPLES = """\
  mien models fetch inswapper_128 --from https://models.example.org/faces --sha256 e4a3f0..."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the network, as `mien models list` names it")
    parser.add_argument(
        "--from",
        dest="mirror",
        metavar="MIRROR",
        help="where from: a folder, or an http, https or file URL ($MIEN_MIRROR)",
    )
    parser.add_argument("--sha256", metavar="HEX", help="the file's SHA-256, where the catalogue does not know it")
    parser.add_argument("--offline", action="store_true", help="never touch the network ($MIEN_OFFLINE)")
    add_profile(parser)
    add_folders(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress; errors are still told")


def run(options: argparse.Namespace) -> int:
    """Download it and print where it is."""
    from mien.models import places

    mirror = options.mirror or places.default_mirror()
    if mirror is None:
        raise UsageError(
            f"where should {options.id} come from? Give --from MIRROR or set {places.MIRROR_VARIABLE}: "
            "mien has no mirror of its own"
        )
    meter = _Meter(options.id)
    located = open_store(options).fetch(
        options.id, mirror, sha256=options.sha256, on_bytes=_ignore if options.quiet else meter.show
    )
    print(located.path)
    return 0


def _ignore(_done: int, _total: int | None) -> None:
    """No progress."""


class _Meter:
    """Prints a line for every tenth of a download, or every 100 MB where its size is not told."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._shown = 0

    def show(self, done: int, total: int | None) -> None:
        """Print a line if one is due."""
        step = done // 100_000_000 if total is None else 10 * done // max(total, 1)
        if step > self._shown:
            self._shown = step
            whole = "" if total is None else f" of {format_bytes(total)}, {10 * step} %"
            complain(f"{self._label}: {format_bytes(done)}{whole}")
