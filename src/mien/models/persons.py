"""DFM files: swappers that were trained for one person each. No catalogue can list them, so they are taken as found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mien.models.catalogue import CatalogueEntry, families

_SUFFIX = ".dfm"
_FAMILY = "deep_swapper"


def persons(files: Iterable[Path]) -> dict[str, CatalogueEntry]:
    """Of files of any kind, an entry for each DFM file, by id: the file's name without its suffix."""
    family = families()[_FAMILY]
    return {
        path.stem: CatalogueEntry(
            id=path.stem,
            role=family.role,
            family=family.name,
            summary="One person, after DeepFaceLab.",
            file=path.name,
            bytes=None,
            sha256=None,
            licence="unknown",
            permits="unknown",
            origin=str(path),
            contract=family.contract,
        )
        for path in files
        if path.suffix == _SUFFIX
    }
