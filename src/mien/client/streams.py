"""Server-sent events (the HTML standard, 9.2), as far as the service sends them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from mien.client.things import Event


def read_events(lines: Iterable[str]) -> Iterator[Event | None]:
    """Events from the lines of a stream; None for a sign of life."""
    number, kind, data = "", "message", list[str]()
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            if data:
                yield Event(id=number, kind=kind, data=json.loads("\n".join(data)))
            kind, data = "message", []
        elif name == "":
            yield None
        elif name == "id":
            number = value
        elif name == "event":
            kind = value
        elif name == "data":
            data.append(value)
