"""What the commands about networks share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mien.cli.console import format_bytes

if TYPE_CHECKING:
    from mien.models.catalogue import CatalogueEntry
    from mien.models.store import Found, ModelStore

PROFILES = ("any", "non-commercial", "commercial")


def add_folders(parser: argparse.ArgumentParser) -> None:
    """Declare `--models`."""
    parser.add_argument(
        "--models",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="folder to look in first, also that of FaceFusion; may be given several times",
    )


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Declare `--licence-profile`."""
    parser.add_argument(
        "--licence-profile",
        choices=PROFILES,
        default="any",
        metavar="PROFILE",
        help="what the results are for: any, non-commercial or commercial (any)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def open_store(options: argparse.Namespace) -> ModelStore:
    """The store for the options given.

    Raises:
        UsageError: a folder is none.
        ModelError: the list of the user's own networks cannot be read.
    """
    from mien.models.store import ModelStore

    return ModelStore.of_user(
        options.models,
        profile=getattr(options, "licence_profile", "any"),
        offline=getattr(options, "offline", False),
    )


def describe_place(found: Found | None) -> str:
    """Where a network's file is, for a table."""
    if found is None:
        return "missing"
    return "comes with mien" if found.place == "bundled" else str(found.path)


def size_of(entry: CatalogueEntry, found: Found | None) -> int | None:
    """Bytes of a network's file: the file's own, else those the catalogue knows."""
    return found.path.stat().st_size if found else entry.bytes


def format_size(size: int | None) -> str:
    """For a table."""
    return "-" if size is None else format_bytes(size)


def to_mapping(entry: CatalogueEntry, found: Found | None) -> dict[str, Any]:
    """An entry, and where it is, for JSON."""
    return {
        "id": entry.id,
        "role": entry.role,
        "family": entry.family,
        "summary": entry.summary,
        "files": list(entry.files),
        "path": str(found.path) if found else None,
        "place": found.place if found else None,
        "bytes": size_of(entry, found),
        "sha256": entry.sha256,
        "licence": entry.licence,
        "permits": entry.permits,
        "origin": entry.origin,
        "contract": entry.contract,
        "parameters": entry.parameters,
        "operations": entry.operations,
        "precisions": list(entry.precisions),
    }
