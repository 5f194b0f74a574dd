"""The user's own networks: any file of a known family, listed in a TOML file of the user's."""

from __future__ import annotations

import json
import os
import re
import secrets
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from mien.errors import ModelError, UnwritableError, UsageError
from mien.models.catalogue import CatalogueEntry, FamilyFacts, Permission, bundled, families, find_family
from mien.models.checksum import checksum_of
from mien.models.lock import locked

_HEAD = "# Networks added with `mien models add`.\n"
_STORED = ("id", "family", "path", "bytes", "sha256", "licence", "permits")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEntry(CatalogueEntry):
    """A network that the user has added: where its file lies, and what it was when it was added."""

    path: Path
    bytes: int
    sha256: str


def describe_file(
    path: Path, *, family: str, id: str | None = None, licence: str = "unknown", permits: Permission = "unknown"
) -> UserEntry:
    """The entry of a file of the user's.

    Args:
        path: The file.
        family: Name of the family whose contract it keeps.
        id: How it is to be called; otherwise like the file.
        licence: Name of its licence.
        permits: What use the licence permits.

    Raises:
        UsageError: the family is unknown, or the id cannot be used.
        ModelError: the file cannot be read.
    """
    path = path.absolute()
    id = path.stem if id is None else id
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", id):
        raise UsageError(f"'{id}' is no id: use letters, digits, '.', '_' and '-', and give it with --id")
    if id in bundled():
        raise UsageError(f"'{id}' is a network that comes with mien: give another id with --id")
    facts = find_family(family)
    sha256 = checksum_of(path, "sha256")
    stored = {"id": id, "bytes": path.stat().st_size, "sha256": sha256, "licence": licence, "permits": permits}
    return _entry(facts, path, stored)


def read_register(file: Path) -> dict[str, UserEntry]:
    """The user's networks by id, in the order they were added; none if there is no such file.

    Raises:
        ModelError: the file is not what `add_to_register` writes.
    """
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        entries = [_read_entry(fields) for fields in tables.get("model", [])]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{file} does not list networks as `mien models add` does: {error}; mend or delete it"
        ) from error
    return {entry.id: entry for entry in entries}


def add_to_register(file: Path, entry: UserEntry, *, overwrite: bool = False) -> None:
    """List one more network.

    Raises:
        UsageError: there is one of that id and `overwrite` is not set.
        ModelError: the file is not what this function writes.
        UnwritableError: it cannot be written.
    """
    with locked(file.with_name(f".{file.name}.lock")):
        entries = read_register(file)
        if entry.id in entries and not overwrite:
            raise UsageError(f"'{entry.id}' is {entries[entry.id].path} already: give another --id, or --overwrite")
        _write(file, {**entries, entry.id: entry}.values())


def _read_entry(fields: dict[str, Any]) -> UserEntry:
    """Of the fields in the file.

    Raises:
        KeyError, ValueError, TypeError: they are not as they should be.
    """
    if unknown := set(fields) ^ set(_STORED):
        raise ValueError(f"{', '.join(sorted(unknown))} missing or unknown")
    if fields["permits"] not in get_args(Permission):
        raise ValueError(f"permits = {fields['permits']}")
    stored = {name: value for name, value in fields.items() if name not in ("family", "path")}
    return _entry(families()[fields["family"]], Path(fields["path"]), stored)


def _entry(family: FamilyFacts, path: Path, stored: dict[str, Any]) -> UserEntry:
    return UserEntry(
        **stored,
        family=family.name,
        path=path,
        role=family.role,
        summary="Added by the user.",
        file=path.name,
        origin=str(path),
        contract=family.contract,
    )


def _write(file: Path, entries: Iterable[UserEntry]) -> None:
    blocks = ["[[model]]\n" + "".join(_line(name, getattr(entry, name)) for name in _STORED) for entry in entries]
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        part.write_text("\n".join([_HEAD, *blocks]), encoding="utf-8")
        os.replace(part, file)
    except UnicodeEncodeError as error:
        raise UnwritableError(f"{file} cannot hold a path that is not Unicode: rename the network's file") from error
    except OSError as error:
        raise UnwritableError(f"{file} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _line(name: str, value: object) -> str:
    # JSON's strings are TOML's, but for the one control character that JSON leaves as it is.
    text = json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return f"{name} = {text}\n"
