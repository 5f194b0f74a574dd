"""What checks of mixed precision have found on this machine, kept in the user's cache."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from mien.engine.cache import cache_root, load_blob, store_blob
from mien.engine.choose import PRECISIONS
from mien.engine.device import Device


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one check."""

    passed: bool
    figures: str
    """What was measured, for people."""


def verdict_folder() -> Path:
    """Where verdicts are kept. It may not exist yet."""
    return cache_root() / "precision"


def store_verdict(sha256: str, device: Device, precision: str, engine_version: str, verdict: Verdict) -> None:
    """Keep a verdict. A cache that takes none leaves the defaults as they are.

    Args:
        sha256: Of the network's file.
        device: Where it was checked; another machine with such a device computes the same.
        precision: Which.
        engine_version: Another one may round differently: its networks are checked anew.
        verdict: What was found.
    """
    folder = verdict_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    store_blob(folder, _key(sha256, device, precision, engine_version), json.dumps(asdict(verdict)).encode())


def load_verdict(sha256: str, device: Device, precision: str, engine_version: str) -> Verdict | None:
    """What a check has found, or None."""
    kept = load_blob(verdict_folder(), _key(sha256, device, precision, engine_version))
    return Verdict(**json.loads(kept)) if kept else None


def checked_precisions(sha256: str, device: Device, engine_version: str) -> dict[tuple[str, str], bool]:
    """By device and precision, whether it passed; as `ModelFacts` wants it."""
    verdicts = {precision: load_verdict(sha256, device, precision, engine_version) for precision in PRECISIONS}
    return {(device.name, precision): verdict.passed for precision, verdict in verdicts.items() if verdict}


def _key(sha256: str, device: Device, precision: str, engine_version: str) -> str:
    parts = (sha256, device.engine, device.kind, device.full_name, precision, engine_version)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
