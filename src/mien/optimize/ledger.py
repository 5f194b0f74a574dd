"""The knowledge base: one table over all cards of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mien.errors import UsageError
from mien.optimize.card import SUFFIX, Card, read_card, to_mapping

HEAD = ("artefact", "of", "technique", "size", "speed", "latency", "memory", "quality", "verdict")


@dataclass(frozen=True, slots=True)
class Point:
    """An artefact on the plane of quality against latency."""

    latency_ms: float
    quality: float
    """Larger is better."""


def read_cards(folder: Path) -> list[Card]:
    """Every card in a folder and those in it, by parent and file.

    Raises:
        UsageError: the folder is missing, or there is no card in it.
        ModelError: a card cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder: give the one that the artefacts are in")
    cards = [read_card(path) for path in sorted(folder.rglob(f"*{SUFFIX}"))]
    if not cards:
        raise UsageError(f"there is no card in {folder}: `mien optimize` writes one beside each artefact")
    return sorted(cards, key=lambda card: (card.parent.model, card.technique, card.file))


def rows(cards: Sequence[Card]) -> list[tuple[str, ...]]:
    """The table without its head, as text; see `HEAD`."""
    return [
        (
            card.file,
            card.parent.model,
            card.technique,
            f"{card.bytes / 1e6:.2f} MB ({card.shrinking:.1f} x smaller)",
            f"{card.speed.value:.2f} x ({card.speed.low:.2f}-{card.speed.high:.2f})",
            f"{card.cost.latency_ms:.1f} ms",
            "-" if card.cost.memory_bytes is None else f"{card.cost.memory_bytes / 1e6:.0f} MB",
            card.quality,
            card.verdict.outcome,
        )
        for card in cards
    ]


def to_mappings(cards: Sequence[Card]) -> list[dict[str, Any]]:
    """The same figures, and all others of the cards, for JSON."""
    return [{**to_mapping(card), "shrinking": card.shrinking} for card in cards]


def pareto(points: Sequence[Point]) -> list[int]:
    """Which points no other is better than in one and at least as good in the other, by latency."""
    front: list[int] = []
    for number, one in enumerate(points):
        beaten = any(
            other.latency_ms <= one.latency_ms
            and other.quality >= one.quality
            and (other.latency_ms < one.latency_ms or other.quality > one.quality)
            for other in points
        )
        if not beaten:
            front.append(number)
    return sorted(front, key=lambda number: points[number].latency_ms)
