"""Small pictures of the frames that a person may want to look at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from mien.media.pictures import read_rgb
from mien.media.probe import probe
from mien.media.video import VideoSource
from mien.report import Report
from mien.service.records import FlaggedFrame
from mien.service.workspace import Desk

MOST = 20
"""Thumbnails of one job; further flags come without."""
MOST_FLAGS = 1000
"""Flags that are kept of one job; the report says how many there are."""
_SIDE_PIXELS = 320


def flagged_frames(report: Report, result: Path, desk: Desk) -> Sequence[FlaggedFrame]:
    """The flagged frames of a result, the first of them with thumbnails in storage.

    Raises:
        UnreadableError: the result is not what was written.
        UnwritableError: no space in storage.
    """
    wanted = sorted({flag.frame for flag in report.flagged})[:MOST]
    keys = _store(wanted, result, desk) if wanted else {}
    flags = report.flagged[:MOST_FLAGS]
    return [FlaggedFrame(flag.frame, flag.time_s, flag.reason, keys.get(flag.frame)) for flag in flags]


def _store(frames: Sequence[int], result: Path, desk: Desk) -> dict[int, str]:
    kind = probe(result).kind
    if kind == "picture":
        return {0: _thumbnail(Image.fromarray(read_rgb(result)), 0, desk)}
    if kind == "animation":
        return {}
    keys: dict[int, str] = {}
    with VideoSource(result) as video:
        for index in frames:
            for frame in video.frames(index, index + 1):
                keys[index] = _thumbnail(Image.fromarray(frame.display(max_side=_SIDE_PIXELS)), index, desk)
    return keys


def _thumbnail(picture: Image.Image, index: int, desk: Desk) -> str:
    picture.thumbnail((_SIDE_PIXELS, _SIDE_PIXELS))
    path = desk.folder / f"flagged-{index}.jpg"
    picture.save(path, quality=80)
    return desk.store(path)
