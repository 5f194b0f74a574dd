"""What a run did and what it cost."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mien.errors import UnwritableError


@dataclass(slots=True)
class ModelUse:
    """One network in one run."""

    model: str
    engine: str
    device: str
    precision: str
    calls: int
    items: int
    seconds: float
    why: str = ""
    """Why it was this device and precision."""


@dataclass(slots=True)
class FlaggedFrame:
    """A frame a person may want to look at."""

    frame: int
    time_s: float
    reason: str
    """`profile`, `low-score`, `lost` (the face was missed for a moment), `fast`; of the frames on which identity is
    measured also `unlike-source` (the networks do not see the source's person in the result) and `turned` (so far that
    this may be why)."""
    track: int | None = None


@dataclass(slots=True)
class Quality:
    """Measured on samples of the result."""

    identity_distance: float | None = None
    """Mean identity distance of result to source (bundled net; one person is < 0.6)."""
    target_distance: float | None = None
    """Mean identity distance of result to the face that was there."""
    flicker: float | None = None
    """RMS of the second difference of the result's landmarks over that of the target's; 1 = as steady as before."""


@dataclass(slots=True)
class ContentCheck:
    """What the content gate looked at and let pass."""

    classifiers: list[str]
    """Whose votes counted."""
    threshold: float
    """Score from which one votes against a picture."""
    share: float
    """Of refused frames, above which a job is refused."""
    sources: int = 0
    """Source pictures looked at."""
    target: int = 0
    """Frames of the target."""
    result: int = 0
    """Frames of the result."""
    refused: int = 0
    """Of these, frames that were voted against, too few to refuse the job."""


@dataclass(slots=True)
class Marks:
    """What the result says about itself; None where a mark is not on it."""

    asked: str = "none"
    """`none`, `metadata` or `all`."""
    produce_id: str | None = None
    """The number under which AI-content metadata and credentials name it."""
    metadata: str | None = None
    """Where the AI-content metadata is."""
    signer: str | None = None
    """Who signed the content credentials."""
    own_signer: bool = False
    """Whether that is the installation itself, for which nobody vouches."""
    watermark: str | None = None
    """The id that the invisible watermark carries, in hexadecimal."""
    watermark_psnr_db: float | None = None
    """Of the frames that this run marked, to what they were without it: it is in all of a frame, not in faces only."""
    label: str | None = None
    """The text that everyone sees."""


@dataclass(slots=True)
class Report:
    """One finished job. Written by `--json`; the short table of the command line is made from it."""

    target: str
    output: str
    version: str
    frames: int = 0
    """Frames written."""
    frames_with_faces: int = 0
    """Frames in which at least one face was edited."""
    faces: int = 0
    """Faces edited, summed over frames."""
    tracks: int = 0
    people: int = 0
    """People told apart in the target."""
    segments: int = 0
    """Independent parts of a video; 0 for pictures."""
    segments_reused: int = 0
    """Parts taken from an earlier run."""
    seconds: float = 0.0
    """Wall time."""
    frames_per_second: float = 0.0
    media_seconds: float = 0.0
    """Duration of the part of the target that was processed; 0 for pictures."""
    first_frame_seconds: float = 0.0
    """From the call to the first finished frame."""
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    """Largest resident size of the process."""
    stages: dict[str, float] = field(default_factory=dict[str, float])
    """Busy seconds of each stage (stages overlap: their sum is not the wall time)."""
    models: list[ModelUse] = field(default_factory=list[ModelUse])
    warnings: list[str] = field(default_factory=list[str])
    flagged: list[FlaggedFrame] = field(default_factory=list[FlaggedFrame])
    quality: Quality = field(default_factory=Quality)
    marks: Marks = field(default_factory=Marks)
    policy: str | None = None
    """The policy file that held."""
    consents: list[str] = field(default_factory=list[str])
    """Ids of the consent records that permitted the job."""
    purpose: str | None = None
    """What the result is for, as the job said."""
    content: ContentCheck | None = None
    """None = the recipe turned the content gate off."""
    price_per_hour: float | None = None
    cost: float | None = None
    """Wall hours times `price_per_hour`."""
    cost_per_media_minute: float | None = None

    def warn(self, message: str) -> None:
        """Add a warning once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def to_mapping(self) -> dict[str, Any]:
        """Plain data, ready for JSON; a figure that is not finite, which JSON does not know, is None."""
        return dataclasses.asdict(self, dict_factory=_finite)

    def save(self, path: str | Path) -> None:
        """Write as JSON.

        Raises:
            UnwritableError: the file cannot be written.
        """
        text = json.dumps(self.to_mapping(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        try:
            # File names that are not Unicode hold lone surrogates; the replacement is JSON's own escape.
            Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UnwritableError(f"cannot write the report {path}: {error.strerror}") from error


def _finite(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in fields}
