"""Checksums of files: computed, remembered, and read where somebody left them beside a file."""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mien.engine.cache import load_blob, store_blob
from mien.errors import ModelError, UnwritableError, UsageError

CHUNK_BYTES = 1 << 20

Algorithm = Literal["sha256", "crc32"]
_NAMES: dict[Algorithm, str] = {"sha256": "SHA-256", "crc32": "CRC32"}


@dataclass(frozen=True, slots=True)
class Checksum:
    """What a file's content is expected to sum up to."""

    algorithm: Algorithm
    value: str
    """Hexadecimal, lower case."""

    @property
    def name(self) -> str:
        """For people: `SHA-256`, `CRC32`."""
        return _NAMES[self.algorithm]


def parse_sha256(text: str) -> str:
    """A SHA-256 as users give it.

    Raises:
        UsageError: it has not 64 hexadecimal digits.
    """
    value = text.strip().lower().removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{64}", value):
        raise UsageError(f"'{text}' is no SHA-256: it has 64 hexadecimal digits")
    return value


def stated_beside(path: Path) -> tuple[Checksum, Path] | None:
    """The checksum that lies beside a file, and where.

    Understood are `NAME.onnx.sha256`, as sha256sum writes it, and FaceFusion's `NAME.hash`, a CRC32 of eight digits.
    """
    places: tuple[tuple[Path, Algorithm, int], ...] = (
        (path.with_name(path.name + ".sha256"), "sha256", 64),
        (path.with_suffix(".hash"), "crc32", 8),
    )
    for file, algorithm, digits in places:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if found := re.match(rf"\s*([0-9a-fA-F]{{{digits}}})\b", text):
            return Checksum(algorithm, found[1].lower()), file
    return None


def leave_beside(path: Path, sha256: str) -> None:
    """Write down a file's SHA-256 where `stated_beside` finds it.

    Raises:
        UnwritableError: it cannot be written.
    """
    file = path.with_name(path.name + ".sha256")
    try:
        file.write_text(f"{sha256}  {path.name}\n", encoding="utf-8")
    except OSError as error:
        raise UnwritableError(f"{file} cannot be written: {error.strerror or error}; make room") from error


def checksum_of(path: Path, algorithm: Algorithm, memory: Path | None = None) -> str:
    """Checksum of a file's content, hexadecimal.

    Args:
        path: The file.
        algorithm: Which.
        memory: Folder that remembers checksums, so that a file is read once and not again before it changes.

    Raises:
        ModelError: the file cannot be read.
    """
    try:
        facts = path.stat()
        key = _key(path, algorithm, facts.st_size, facts.st_mtime_ns)
        if memory and (known := load_blob(memory, key)):
            return known.decode("ascii")
        value = _compute(path, algorithm)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    if memory:
        _remember(memory, key, value)
    return value


def _key(path: Path, algorithm: Algorithm, size: int, changed_ns: int) -> str:
    facts = "\0".join((algorithm, str(path.absolute()), str(size), str(changed_ns)))
    return hashlib.sha256(facts.encode(errors="surrogateescape")).hexdigest()


def _compute(path: Path, algorithm: Algorithm) -> str:
    with path.open("rb") as file:
        if algorithm == "sha256":
            return hashlib.file_digest(file, "sha256").hexdigest()
        crc = 0
        while chunk := file.read(CHUNK_BYTES):
            crc = zlib.crc32(chunk, crc)
        return f"{crc:08x}"


def _remember(memory: Path, key: str, value: str) -> None:
    try:
        memory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # The file is read again next time.
    store_blob(memory, key, value.encode("ascii"))
