"""Engines built for one kind of GPU: what each is for, and whether it is still whole."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from mien.engine.providers import Profile

_SEAL = "sealed.json"


def engine_key(sha256: str, engine: str, gpu: str, precision: str, profile: Profile) -> str:
    """Names everything that a built engine depends on; batch sizes inside the profile do not count.

    Args:
        sha256: Of the ONNX file.
        engine: The builder and its version, e.g. `onnxruntime 1.31.0 tensorrt 10.16.1`.
        gpu: Its architecture, e.g. `sm_90`.
        precision: `fp32`, `bf16`, `fp16` or `int8`.
        profile: The shapes it is built for.
    """
    parts = json.dumps([sha256, engine, gpu, precision, profile.options()], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


def seal(folder: Path) -> None:
    """Write down what a finished build has put into its folder."""
    digests = {file.name: _digest(file) for file in sorted(folder.iterdir()) if file.name != _SEAL}
    part = folder / f".{_SEAL}"
    part.write_text(json.dumps(digests), encoding="utf-8")
    part.replace(folder / _SEAL)


def is_sound(folder: Path) -> bool:
    """Whether a build was finished there and every file of it is as it was then."""
    try:
        digests = json.loads((folder / _SEAL).read_text(encoding="utf-8"))
        return bool(digests) and all(_digest(folder / name) == digest for name, digest in digests.items())
    except (OSError, ValueError, AttributeError):
        return False


def make_room(folder: Path) -> Path:
    """An empty folder for a new build: what an interrupted or damaged one left is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
