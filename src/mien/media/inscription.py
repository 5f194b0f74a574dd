"""What is written into a result beside its picture and what its target said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Inscription:
    """What a result says about itself; the default adds nothing."""

    xmp: Callable[[bytes | None], bytes] | None = None
    """What becomes of a picture's XMP packet, None if it has none."""
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Entries of a video's metadata beside those of the target."""
    finish: Callable[[Path], None] | None = None
    """Called with the finished file before it gets its name: the last that is done to it."""


NOTHING = Inscription()
