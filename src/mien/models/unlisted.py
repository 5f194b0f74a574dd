"""Files that no catalogue lists: those named by their path, and DFM files, swappers trained for one person each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mien.models.catalogue import CatalogueEntry, find_family

_PERSON_SUFFIX = ".dfm"
_PERSON_FAMILY = "deep_swapper"


def unlisted(path: Path, family: str) -> CatalogueEntry:
    """The entry of a file of which nothing is known but its family; its id is its name without the suffix.

    Raises:
        UsageError: there is no such family.
    """
    facts = find_family(family)
    return CatalogueEntry(
        id=path.stem,
        role=facts.role,
        family=facts.name,
        summary="A file of the user's.",
        file=path.name,
        bytes=None,
        sha256=None,
        licence="unknown",
        permits="unknown",
        origin=str(path),
        contract=facts.contract,
    )


def persons(files: Iterable[Path]) -> dict[str, CatalogueEntry]:
    """Of files of any kind, an entry for each DFM file, by id."""
    return {path.stem: unlisted(path, _PERSON_FAMILY) for path in files if path.suffix == _PERSON_SUFFIX}
