"""What the mark says, and how it is checked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.trust.watermark.ids import MarkId, from_bits, mark_of_job, to_bits, to_text

marks = st.integers(0, 2**24 - 1).map(MarkId)


def remainder(bits: list[bool]) -> int:
    """Of the division by x^8 + x^2 + x + 1, written out as on paper."""
    row = [*bits]
    for place in range(len(row) - 8):
        if row[place]:
            for power in (8, 2, 1, 0):
                row[place + 8 - power] ^= True
    return sum(bit << place for place, bit in enumerate(reversed(row[-8:])))


@given(marks)
def test_an_id_comes_back(mark: MarkId) -> None:
    assert from_bits(to_bits(mark)) == mark


@given(marks)
def test_the_checksum_is_the_remainder_of_the_id_with_its_first_byte_turned(mark: MarkId) -> None:
    bits = list(to_bits(mark))
    assert remainder([not bit for bit in bits[:8]] + bits[8:24] + [False] * 8) == int(
        "".join(str(int(bit)) for bit in bits[24:]), 2
    )


@given(marks, st.integers(0, 31), st.integers(1, 255))
def test_damage_within_eight_bits_in_a_row_is_seen(mark: MarkId, first: int, pattern: int) -> None:
    bits = list(to_bits(mark))
    touched = [place for place in range(8) if pattern >> place & 1 and first + place < 32]
    for place in touched:
        bits[first + place] = not bits[first + place]
    assert (from_bits(bits) is None) == bool(touched)


def test_no_signal_is_no_id() -> None:
    assert from_bits([False] * 32) is None


def test_jobs_have_their_own_ids_of_24_bits() -> None:
    found = {mark_of_job(f"job {number}") for number in range(2000)}
    assert len(found) > 1990
    assert min(found) < 2**18 < 2**23 < max(found) < 2**24
    assert mark_of_job("job 1") == mark_of_job("job 1")


def test_an_id_is_written_with_six_digits() -> None:
    assert to_text(MarkId(0xAB)) == "0000ab"


@pytest.mark.parametrize("number", [-1, 2**24])
def test_what_is_no_id_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="24 bits"):
        to_bits(MarkId(number))
