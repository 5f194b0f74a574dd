"""The AI-content object that files carry: seven keys at the top level of a JSON object named `AIGC`.

China's GB 45438-2025 says which, and all values are text in ASCII without quote and backslash.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, cast

KEY = "AIGC"
"""Its name in the metadata of a container."""

_KEYS = {
    "label": "Label",
    "producer": "ContentProducer",
    "produce_id": "ProduceID",
    "reserved_1": "ReservedCode1",
    "propagator": "ContentPropagator",
    "propagate_id": "PropagateID",
    "reserved_2": "ReservedCode2",
}
"""Field of `Aigc` -> key, in the order in which they are written."""

LABELS = {"1": "made by AI", "2": "possibly made by AI", "3": "suspected to be made by AI"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Aigc:
    """What a file says about its making."""

    label: str = "1"
    """See `LABELS`."""
    producer: str
    """Who made the content."""
    produce_id: str
    """The producer's own number for it."""
    reserved_1: str = ""
    propagator: str
    """Who passed it on; at first the producer."""
    propagate_id: str
    reserved_2: str = ""

    @classmethod
    def made_by(cls, producer: str, produce_id: str) -> Aigc:
        """Of what has just been made."""
        return cls(producer=producer, produce_id=produce_id, propagator=producer, propagate_id=produce_id)

    def to_json(self) -> str:
        """Exactly the seven keys, without spaces."""
        fields = {key: getattr(self, name) for name, key in _KEYS.items()}
        return json.dumps(fields, separators=(",", ":"))

    def to_mapping(self) -> dict[str, str]:
        """Plain data by our own names."""
        return dataclasses.asdict(self)


def parse(text: str) -> Aigc:
    """Read the bare object, or one wrapped as `{"AIGC": {...}}`.

    Raises:
        ValueError: it is neither; the message says what is wrong.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is no JSON") from error
    if isinstance(value, dict) and KEY in value:
        value = cast(dict[str, Any], value)[KEY]
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    fields = cast(dict[str, Any], value)
    if missing := [key for key in _KEYS.values() if key not in fields]:
        raise ValueError(f"it lacks {', '.join(missing)}")
    if strange := [key for key in _KEYS.values() if not isinstance(fields[key], str)]:
        raise ValueError(f"{strange[0]} is no text")
    if fields["Label"] not in LABELS:
        raise ValueError(f"Label is {fields['Label']!r}, not {', '.join(LABELS)}")
    return Aigc(**{name: fields[key] for name, key in _KEYS.items()})
