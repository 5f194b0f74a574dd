"""The Range header (RFC 9110, 14.2): one range of bytes."""

from __future__ import annotations

import re
from typing import NamedTuple

from mien.service.problems import refuse

_ONE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))")


class Span(NamedTuple):
    """Half-open range of bytes."""

    first: int
    end: int


def parse_range(header: str | None, size: int) -> Span | None:
    """What is asked for of a file; None = all of it. A header that is not understood counts as none, as it should.

    Raises:
        Problem: range, if no byte of it is there.
    """
    match = _ONE.fullmatch(header.strip()) if header else None
    if match is None:
        return None
    first, last, tail = match.groups()
    if tail is not None:
        span = Span(max(size - int(tail), 0), size)
    else:
        if last and int(last) < int(first):
            return None
        span = Span(int(first), min(int(last) + 1, size) if last else size)
    if span.first >= span.end:
        refuse("range", f"'{header}' lies outside of the file, which has {size} bytes", size_bytes=size)
    return span
