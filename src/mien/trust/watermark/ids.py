"""What the mark says: an id of 24 bits and its checksum of 8."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NewType

MarkId = NewType("MarkId", int)
"""24 bits, without meaning of their own: who has the records looks the job up."""

ID_BITS, CHECK_BITS = 24, 8
BITS = ID_BITS + CHECK_BITS

_POLYNOMIAL, _START = 0x07, 0xFF
"""CRC-8 (x^8 + x^2 + x + 1); it starts with ones, so that no bit at all is no valid id."""


def mark_of_job(job: str) -> MarkId:
    """The id that the mark of a job carries. Of 1,000 jobs two share one by chance with a probability of 3 %."""
    return MarkId(int.from_bytes(hashlib.sha256(b"mark of job " + job.encode()).digest()[: ID_BITS // 8], "big"))


def to_text(mark_id: MarkId) -> str:
    """Six hexadecimal digits."""
    return f"{mark_id:06x}"


def to_bits(mark_id: MarkId) -> tuple[bool, ...]:
    """The 32 bits of an id, most significant first, its checksum last."""
    if not 0 <= mark_id < 1 << ID_BITS:
        raise ValueError(f"the id of a mark has {ID_BITS} bits, got {mark_id}")
    word = mark_id << CHECK_BITS | _checksum(mark_id)
    return tuple(bool(word >> place & 1) for place in reversed(range(BITS)))


def from_bits(bits: Sequence[bool]) -> MarkId | None:
    """The id that 32 bits say, or None where the checksum does not agree (1 of 256 wrong ones does by chance)."""
    word = sum(int(bit) << place for place, bit in enumerate(reversed(bits)))
    mark_id = MarkId(word >> CHECK_BITS)
    return mark_id if _checksum(mark_id) == word & 0xFF else None


def _checksum(mark_id: MarkId) -> int:
    rest = _START
    for byte in mark_id.to_bytes(ID_BITS // 8, "big"):
        rest ^= byte
        for _ in range(8):
            rest = (rest << 1 ^ _POLYNOMIAL if rest & 0x80 else rest << 1) & 0xFF
    return rest
