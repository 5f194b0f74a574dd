"""Encoded packets of one segment in a file that tells a finished one from a half-written or damaged one.

Layout, little-endian: `MIENSEG1`, length (u32) and JSON of the header, packets (pts i64, flags u8, size u32, bytes),
one record of size 0xFFFFFFFF, and the BLAKE2b digest (32 bytes) of everything before it.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from av.error import FFmpegError

from mien.errors import UnreadableError, UnwritableError
from mien.media.encoding import Encoding

_MAGIC = b"MIENSEG1"
_RECORD = struct.Struct("<qBI")
_LENGTH = struct.Struct("<I")
_END = 0xFFFFFFFF
_DIGEST_BYTES = 32
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class LoggedPacket:
    """One encoded packet, in decoding order."""

    pts: int
    """Presentation time in the source's time base."""
    keyframe: bool
    data: bytes


class PacketLogWriter:
    """Writes a log beside `path` and publishes it when left without an error.

    Raises:
        UnwritableError: no space, no permission, no directory.
    """

    def __init__(self, path: Path, encoding: Encoding, extradata: bytes) -> None:
        self.path = path
        self._part = path.with_name(f".{path.name}.part")
        self._digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        try:
            self._file: BinaryIO = self._part.open("wb")
        except OSError as error:
            raise unwritable(path, error) from error
        header = json.dumps(
            {"encoding": encoding.to_mapping(), "extradata": base64.b64encode(extradata).decode()}, sort_keys=True
        ).encode()
        self._write(_MAGIC + _LENGTH.pack(len(header)) + header)

    def append(self, packet: LoggedPacket) -> None:
        """Add a packet."""
        self._write(_RECORD.pack(packet.pts, packet.keyframe, len(packet.data)) + packet.data)

    def publish(self) -> None:
        """Finish the log and give it its name."""
        self._write(_RECORD.pack(0, 0, _END))
        try:
            self._file.write(self._digest.digest())
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._part, self.path)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def discard(self) -> None:
        """Drop what was written."""
        with contextlib.suppress(OSError):  # What could not be flushed is deleted anyway.
            self._file.close()
        self._part.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        self._digest.update(data)
        try:
            self._file.write(data)
        except OSError as error:
            raise unwritable(self.path, error) from error


class PacketLog:
    """A finished log, checked when opened. A context manager.

    Raises:
        UnreadableError: the file is missing, half-written, damaged, or of another kind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise UnreadableError(f"segment {path} cannot be read: {error.strerror}") from error
        try:
            self._check()
            header = self._header()
            self.encoding = Encoding.from_mapping(header["encoding"])
            self.extradata = base64.b64decode(header["extradata"])
        except UnreadableError:
            self._file.close()
            raise
        except (ValueError, KeyError, TypeError) as error:
            self._file.close()
            raise UnreadableError(f"segment {path} was written by another version: it has to be made again") from error
        self._start = self._file.tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def packets(self) -> Iterator[LoggedPacket]:
        """Packets in decoding order."""
        self._file.seek(self._start)
        while True:
            pts, keyframe, size = _RECORD.unpack(self._file.read(_RECORD.size))
            if size == _END:
                return
            yield LoggedPacket(pts, bool(keyframe), self._file.read(size))

    def times(self) -> list[int]:
        """Presentation times in decoding order, without reading the packets."""
        self._file.seek(self._start)
        times: list[int] = []
        while True:
            pts, _, size = _RECORD.unpack(self._file.read(_RECORD.size))
            if size == _END:
                return times
            times.append(pts)
            self._file.seek(size, os.SEEK_CUR)

    def _check(self) -> None:
        size = os.fstat(self._file.fileno()).st_size
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        left = size - _DIGEST_BYTES
        if self._file.read(len(_MAGIC)) != _MAGIC or left <= 0:
            raise UnreadableError(f"segment {self.path} is no packet log: it has to be made again")
        self._file.seek(0)
        while left > 0:
            chunk = self._file.read(min(left, _CHUNK))
            digest.update(chunk)
            left -= len(chunk)
        if self._file.read() != digest.digest():
            raise UnreadableError(f"segment {self.path} is damaged or half-written: it has to be made again")

    def _header(self) -> dict[str, Any]:
        self._file.seek(len(_MAGIC))
        (length,) = _LENGTH.unpack(self._file.read(_LENGTH.size))
        return json.loads(self._file.read(length))


def unwritable(path: Path, error: OSError | FFmpegError) -> UnwritableError:
    """The error for a file that cannot be written, with the system's reason."""
    return UnwritableError(f"{path} cannot be written: {error.strerror or error}")
