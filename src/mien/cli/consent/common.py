"""What the commands about consent share."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mien.errors import UsageError

if TYPE_CHECKING:
    from mien.trust.consent import ConsentStore
    from mien.trust.people import Embedding
    from mien.trust.policy import Policy


def add_policy(parser: argparse.ArgumentParser) -> None:
    """Declare `--policy`."""
    parser.add_argument(
        "--policy", metavar="FILE", help="the policy that holds (that of MIEN_POLICY, or of this installation)"
    )


def add_pictures(parser: argparse.ArgumentParser) -> None:
    """Declare the pictures and whose they are."""
    parser.add_argument("pictures", nargs="+", metavar="PICTURE", type=Path, help="pictures of the person")
    parser.add_argument("--subject", required=True, metavar="WHO", help="who that is, in words of your own")


def open_records(options: argparse.Namespace) -> tuple[ConsentStore, Policy]:
    """The store that the policy names; faces that are past their time are deleted first.

    Raises:
        PolicyError: the policy cannot be read.
        VaultError: a record or the key is damaged.
    """
    from mien.trust.consent import ConsentStore
    from mien.trust.policy import Policy

    policy = Policy.find(options.policy)
    store = ConsentStore(policy.folder)
    store.expire(policy.retention_days, datetime.now(UTC))
    return store, policy


def read_faces(pictures: list[Path]) -> tuple[Embedding, ...]:
    """The faces in pictures of one person.

    Raises:
        UnreadableError, NoFaceError, UnfitSourceError: see `faces_of`.
    """
    from mien.faces.analyser import FaceAnalyser
    from mien.trust.enrol import faces_of

    return faces_of(pictures, FaceAnalyser())


def parse_day(text: str | None, option: str) -> datetime | None:
    """A day or moment as users give it, in UTC.

    Raises:
        UsageError: it is none.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{option} {text}: give a day such as 2027-06-30, or a moment such as 2027-06-30T18:00"
        ) from None
    return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)).replace(microsecond=0)
