"""Tiers: presets with a name, each with its own queue and workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mien.service.records import TierName


@dataclass(frozen=True, slots=True)
class Tier:
    """What a job of this tier is done with, unless its recipe says otherwise."""

    name: TierName
    summary: str
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields of a recipe."""
    together: int = 1
    """Small pictures that one slot takes at once."""
    is_preview: bool = False
    """Results are half as large, and say that they are previews."""

    def applied(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A recipe's fields with this tier's where it leaves them open."""
        return {**self.defaults, **fields}


TIERS: Mapping[TierName, Tier] = {
    "batch": Tier(
        "batch",
        "throughput: the precision that is fastest without loss, small pictures taken together",
        together=4,
    ),
    "realtime": Tier(
        "realtime",
        "latency: one job a slot, short segments, a fast encoder",
        {"segment_seconds": 2.0, "preset": "veryfast"},
    ),
    "preview": Tier(
        "preview",
        "a first look: half the size, a fast encoder, marked as a preview",
        {"preset": "ultrafast"},
        together=4,
        is_preview=True,
    ),
}
