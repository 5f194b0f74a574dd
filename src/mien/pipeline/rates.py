"""How long networks took in earlier runs on this machine, for plans."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mien.engine.cache import cache_root
from mien.report import ModelUse

Rates = Mapping[str, float]
"""Seconds an item, by `key`."""

_FEWEST_ITEMS = 8
"""Of a run that tells a rate: the first items take longer."""


def key(model: str, device: str, precision: str) -> str:
    """What a rate is of.

    Args:
        model: Its id.
        device: With the name of the processor, as reports have it.
        precision: In which it runs.
    """
    return f"{model} {precision} {device}"


def measured() -> Rates:
    """What earlier runs have measured; nothing if nothing can be read."""
    try:
        kept: Any = json.loads(_file().read_text(encoding="utf-8"))
        return {str(name): float(seconds) for name, seconds in kept.items() if 0 < seconds < float("inf")}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def remember(uses: Iterable[ModelUse]) -> None:
    """Keep what a run has measured; the latest counts. A folder that takes no more costs a rougher plan."""
    seen = {
        key(use.model, use.device, use.precision): use.seconds / use.items
        for use in uses
        if use.items >= _FEWEST_ITEMS and use.seconds > 0
    }
    if not seen:
        return
    file = _file()
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(json.dumps({**measured(), **seen}), encoding="utf-8")
            os.replace(part, file)
        finally:
            part.unlink(missing_ok=True)


def _file() -> Path:
    return cache_root() / "network_seconds.json"
