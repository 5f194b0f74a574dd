"""`mien models verify`: are the files what they are taken for?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from mien.cli.console import STDOUT, table, write_json
from mien.cli.models.common import add_folders, add_json, open_store
from mien.errors import ModelError

if TYPE_CHECKING:
    from mien.models.store import ModelStore

USAGE = "mien models verify [options] [ID ...]"
DESCRIPTION = """\
Check networks' files, all that are there or those named: checksum, and inputs and outputs against the family's
contract. Exit code 1 if one is missing, broken, or differs from its checksum; `unverified` means that no SHA-256 is
known."""
EXAMPLES = """\
  mien models verify
  mien models verify inswapper_128 gfpgan_1.4 --models ~/facefusion"""

State = Literal["ok", "unverified", "differs", "broken"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one file."""

    id: str
    state: State
    path: str | None
    why: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("ids", metavar="ID", nargs="*", help="networks (all whose file is there)")
    add_folders(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Check and print."""
    store = open_store(options)
    verdicts = list(_verify(store, options.ids))
    if options.json:
        write_json([asdict(verdict) for verdict in verdicts], STDOUT)
    else:
        print(table([(verdict.state, verdict.id, verdict.why) for verdict in verdicts]))
    return 0 if all(verdict.state in ("ok", "unverified") for verdict in verdicts) else ModelError.exit_code


def _verify(store: ModelStore, ids: list[str]) -> Iterator[Verdict]:
    from mien.models.check import check_file

    for model in ids or [entry.id for entry in store.entries.values() if store.find(entry)]:
        path = None
        try:
            located = store.locate(model)
            path = str(located.path)
            check_file(located.path, located.entry.family)
        except ModelError as error:
            yield Verdict(model, "broken", path, str(error))
        else:
            state: State = "ok" if located.verified else "differs" if located.differs else "unverified"
            yield Verdict(model, state, path, located.why)
