"""What networks there are: those that come with mien, those of the field, and the families that adapters know.

`catalogue.toml` lists what is bundled, `field.toml` what users own or download. Nothing here looks at a user's disk;
that is the store's work (`mien.models.store`).
"""

from __future__ import annotations

import functools
import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mien.errors import ModelError, UsageError

BUNDLED_FOLDER = Path(__file__).parent / "bundled"

Permission = Literal["commercial", "non-commercial", "research", "unknown"]
"""What use of a network's results its licence permits. Copyleft licences permit commercial use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One network."""

    id: str
    role: str
    """What it is for: `detector`, `landmarker`, `recogniser`, `swapper`, ..."""
    family: str
    """Which adapter knows its contract: of a bundled network the module of that name in `mien.models`, of others the
    adapter of that name in `mien.models.families`."""
    summary: str
    """One sentence for people."""
    file: str
    """Usual name of the file."""
    aliases: tuple[str, ...] = ()
    """Other names under which the same file is found."""
    bytes: int | None
    """Size of the file, if it is known exactly."""
    sha256: str | None
    """Of the file, if it is known."""
    licence: str
    """SPDX identifier of the weights' licence, or its name."""
    permits: Permission
    origin: str
    """Who made the network, or which public file it was converted from."""
    contract: str
    """What goes in and what comes out, for people."""
    parameters: int | None = None
    """Number of weights, roughly."""
    operations: int | None = None
    """Multiply-adds for one item, roughly."""
    precisions: tuple[str, ...] = ("fp32",)
    """Of `fp32`, `bf16`, `fp16`: those in which the network's quality is known to hold."""

    @property
    def files(self) -> tuple[str, ...]:
        """Every name under which the file is looked for, the usual one first."""
        return self.file, *self.aliases


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledEntry(CatalogueEntry):
    """A network that comes with mien: its size and hash are known, its licence's text lies beside it."""

    bytes: int
    sha256: str
    licence_file: str
    """Text of the licence, in the folder of bundled networks."""

    @property
    def path(self) -> Path:
        """Where the network's file lies."""
        return BUNDLED_FOLDER / self.file

    def check_size(self) -> None:
        """Look whether the file is there and of the right size: cheap enough for every start.

        Raises:
            ModelError: it is not.
        """
        try:
            size = self.path.stat().st_size
        except OSError as error:
            raise ModelError(f"{self.id} is missing: {self.path} ({error.strerror}); install mien again") from error
        if size != self.bytes:
            raise ModelError(
                f"{self.id} is damaged: {self.path} has {size} bytes, not {self.bytes}; install mien again"
            )

    def verify(self) -> None:
        """Compare the whole file with its SHA-256.

        Raises:
            ModelError: the file is missing, unreadable or differs.
        """
        self.check_size()
        try:
            digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        except OSError as error:
            raise ModelError(f"{self.id} cannot be read: {self.path} ({error.strerror})") from error
        if digest != self.sha256:
            raise ModelError(f"{self.id} is damaged: the SHA-256 of {self.path} is {digest}; install mien again")


@dataclass(frozen=True, slots=True)
class FamilyFacts:
    """What all networks of a family of the field share."""

    name: str
    role: str
    contract: str


@functools.cache
def bundled() -> dict[str, BundledEntry]:
    """The networks that come with mien by id, in the order of the file."""
    return {fields["id"]: BundledEntry(**_tuples(fields)) for fields in _read("catalogue.toml")["model"]}


@functools.cache
def field_models() -> dict[str, CatalogueEntry]:
    """The networks of the field that users bring, by id, in the order of the file."""
    tables = _read("field.toml")
    unknown = {"bytes": None, "sha256": None}
    return {
        fields["id"]: CatalogueEntry(**_tuples({**unknown, **tables["family"][fields["family"]], **fields}))
        for fields in tables["model"]
    }


@functools.cache
def families() -> dict[str, FamilyFacts]:
    """The families of the field by name: any file of one of them can be used."""
    return {
        name: FamilyFacts(name, fields["role"], fields["contract"])
        for name, fields in _read("field.toml")["family"].items()
    }


def find_family(name: str) -> FamilyFacts:
    """The family of that name.

    Raises:
        UsageError: there is none; the message names those that are.
    """
    try:
        return families()[name]
    except KeyError:
        raise UsageError(f"there is no model family '{name}': it is one of {', '.join(families())}") from None


def catalogue() -> dict[str, CatalogueEntry]:
    """Every network that mien knows of by itself, by id: the bundled ones first."""
    return {**bundled(), **field_models()}


def find_model(model: str) -> BundledEntry:
    """The bundled network with the id `model`.

    Raises:
        ModelError: there is none; the message names those that are.
    """
    try:
        return bundled()[model]
    except KeyError:
        raise ModelError(f"there is no network '{model}': mien comes with {', '.join(bundled())}") from None


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
