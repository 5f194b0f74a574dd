"""The networks that come with mien: what each is, where it comes from, and whether its file is intact."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mien.errors import ModelError

BUNDLED_FOLDER = Path(__file__).parent / "bundled"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One network."""

    id: str
    role: str
    """What it is for: `detector`, `landmarks`, `identity`, `person_mask`, `upscale`, `content_gate`."""
    family: str
    """Which adapter knows its contract: the module of that name in `mien.models`."""
    summary: str
    """One sentence for people."""
    file: str
    """File name in the folder of bundled networks."""
    bytes: int
    """Size of the file."""
    sha256: str
    licence: str
    """SPDX identifier of the weights' licence."""
    licence_file: str
    """Text of the licence, beside the file."""
    origin: str
    """Which public file the network was converted from."""
    parameters: int
    """Number of weights, roughly."""
    precisions: tuple[str, ...]
    """Of `fp32`, `bf16`: those in which the network's quality holds."""

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


@functools.cache
def catalogue() -> dict[str, CatalogueEntry]:
    """All entries by id, in the order of the file."""
    text = (Path(__file__).parent / "catalogue.toml").read_text(encoding="utf-8")
    tables: list[dict[str, Any]] = tomllib.loads(text)["model"]
    for fields in tables:
        fields["precisions"] = tuple(fields["precisions"])
    return {fields["id"]: CatalogueEntry(**fields) for fields in tables}


def find_model(model: str) -> CatalogueEntry:
    """The entry with the id `model`.

    Raises:
        ModelError: there is none; the message names those that are.
    """
    try:
        return catalogue()[model]
    except KeyError:
        raise ModelError(f"there is no network '{model}': the catalogue has {', '.join(catalogue())}") from None
