"""Whether the mark would survive in somebody's own pictures and clips: they are marked, attacked and read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mien.errors import UnreadableError, UsageError
from mien.media.animation import AnimationSource
from mien.media.arrays import ArrayFrame
from mien.media.pictures import read_picture
from mien.media.probe import probe
from mien.media.profiles import PlainRgb
from mien.media.recoding import Pixels, through_video
from mien.media.video import VideoSource
from mien.trust.watermark.attacks import CLIP_ATTACKS, PICTURE_ATTACKS
from mien.trust.watermark.detection import Detection, detect
from mien.trust.watermark.embedding import UNFIT, Watermark
from mien.trust.watermark.ids import mark_of_job, to_bits

CLIP_FRAMES = 50
"""Frames of a clip that are tried: two seconds at 25 a second."""
_VOTES = 2
"""One in so many of them is looked at."""
_WRITTEN = ("libx264", 18)
"""How the product itself writes clips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was found after one attack on one file."""

    file: str
    attack: str
    found: bool
    """Whether the id was read, and is the right one."""
    score: float
    """See `Detection.score`."""
    bits_right: int
    """Of 32."""
    psnr_db: float
    """Of the marked file to the unmarked one."""


def try_file(path: Path) -> list[Outcome]:
    """Mark a copy of a picture, animation or video in memory, attack it, and look for the mark.

    Raises:
        UnreadableError, UnsupportedMediaError: it cannot be read.
        UsageError: it cannot carry a mark.
    """
    watermark = Watermark(mark_of_job(f"trial of {path.name}"))
    frames = [_marked(path, frame, watermark) for frame in _read(path)]
    if not frames:
        raise UnreadableError(f"{path} has no picture that can be decoded")
    if len(frames) == 1:
        found = {name: detect([attack(frames[0])]) for name, attack in PICTURE_ATTACKS.items()}
    else:
        written = through_video(frames, *_WRITTEN)
        found = {name: detect(attack(written)[::_VOTES]) for name, attack in CLIP_ATTACKS.items()}
    return [_outcome(path, name, one, watermark) for name, one in found.items()]


def _read(path: Path) -> Sequence[Pixels]:
    kind = probe(path).kind
    if kind == "picture":
        return [read_picture(path).display()]
    with AnimationSource(path) if kind == "animation" else VideoSource(path) as source:
        return [frame.display() for frame in islice(source.frames(), CLIP_FRAMES)]


def _marked(path: Path, picture: Pixels, watermark: Watermark) -> Pixels:
    if not watermark.embed(ArrayFrame(picture, PlainRgb(255))):
        raise UsageError(f"{path}: {UNFIT}")
    return picture


def _outcome(path: Path, attack: str, found: Detection, watermark: Watermark) -> Outcome:
    return Outcome(
        file=str(path),
        attack=attack,
        found=found.mark_id == watermark.mark_id,
        score=found.score,
        bits_right=sum(a == b for a, b in zip(found.bits, to_bits(watermark.mark_id), strict=True)),
        psnr_db=watermark.psnr_db or 0.0,
    )
