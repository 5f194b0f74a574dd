"""The card of an artefact: what it was made of and how, what it costs, how good it is, and what the gate says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mien.errors import ModelError
from mien.media.files import write_bytes
from mien.models.checksum import checksum_of
from mien.optimize.gate import Verdict
from mien.optimize.intervals import Interval
from mien.optimize.metrics import Metric
from mien.optimize.plain import metric_of, plain

FORMAT = 1
SUFFIX = ".card.json"


@dataclass(frozen=True, slots=True)
class Parent:
    """The network that was made cheaper."""

    model: str
    """Its id."""
    family: str
    role: str
    sha256: str
    bytes: int
    licence: str
    permits: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What running one item costs."""

    latency_ms: float
    """Median, one thread; on a processor its own time, which other programs do not lengthen."""
    memory_bytes: int | None
    """None where the system does not tell."""


@dataclass(frozen=True, slots=True)
class Card:
    """Everything about one artefact."""

    file: str
    sha256: str
    bytes: int
    parent: Parent
    technique: str
    """`fp16` or `int8`."""
    settings: Mapping[str, Any]
    """What it was made with, the nodes that were kept among it."""
    calibration: str
    """SHA-256 of the manifest of the faces it was made and measured with."""
    parameters: int
    """Weights and biases of convolutions and products."""
    operations: int
    """Multiply-adds of an item."""
    device: str
    """Where it was measured, and by what engine."""
    cost: Cost
    parent_cost: Cost
    speed: Interval
    """Time of the parent over that of the artefact, run in turn."""
    metrics: tuple[Metric, ...]
    verdict: Verdict
    made: str
    """Date, ISO 8601."""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the packages that made it."""

    @property
    def shrinking(self) -> float:
        """Times smaller than the parent's file."""
        return self.parent.bytes / self.bytes

    @property
    def quality(self) -> str:
        """The first figure of quality, for a table."""
        if not self.metrics:
            return "-"
        first = self.metrics[0]
        return f"{first.name} {first.value:.4g}{' ' + first.unit if first.unit else ''}"


def card_path(artefact: Path) -> Path:
    """`X.card.json` beside `X.onnx`."""
    return artefact.with_suffix(SUFFIX)


def write_card(card: Card, artefact: Path) -> Path:
    """Write the card of a file beside it.

    Raises:
        UnwritableError: it cannot be written.
    """
    path = card_path(artefact)
    write_bytes(path, to_json(card).encode())
    return path


def to_mapping(card: Card) -> dict[str, Any]:
    """For JSON, which has no infinity: null stands for as bad as can be."""
    return {"format": FORMAT, **plain(asdict(card))}


def to_json(card: Card) -> str:
    """As it is written."""
    return json.dumps(to_mapping(card), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_card(path: Path) -> Card:
    """A card as `write_card` writes it.

    Raises:
        ModelError: it cannot be read, or is none.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        if fields.pop("format") != FORMAT:
            raise ValueError("its format is of another version")
        known: dict[str, Any] = {
            **fields,
            "parent": Parent(**fields["parent"]),
            "cost": Cost(**fields["cost"]),
            "parent_cost": Cost(**fields["parent_cost"]),
            "speed": Interval(**fields["speed"]),
            "metrics": tuple(metric_of(one) for one in fields["metrics"]),
            "verdict": Verdict(fields["verdict"]["outcome"], tuple(fields["verdict"]["reasons"])),
        }
        return Card(**known)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} is no card as `mien optimize` writes it: {error}; make the artefact again") from error


def check_artefact(card: Card, artefact: Path) -> None:
    """Look whether a card is that of the file beside it.

    Raises:
        ModelError: the file is missing, or another one than was measured.
    """
    if checksum_of(artefact, "sha256") != card.sha256:
        raise ModelError(f"{artefact} is not the file that its card tells of: it was changed since; make it again")
