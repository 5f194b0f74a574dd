"""What `mien compare` does: pictures, clips, or moments of clips side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np

from mien.cli.clips import Clip, open_clip
from mien.cli.output import is_picture_name, save_picture
from mien.cli.pairing import pair
from mien.cli.side_by_side import DIVIDER, Pixels, SideBySide
from mien.errors import Interrupted, UnreadableError, UsageError
from mien.media.clip import ClipWriter
from mien.media.files import publish
from mien.media.frame import Frame
from mien.media.pictures import read_rgb
from mien.media.probe import probe
from mien.pipeline.progress import ProgressCallback, ProgressMeter
from mien.recipe import Position

MOMENTS = 3
"""Moments of two clips that a picture shows, one below the other."""

_LENGTH_SLACK_S = 0.1
"""Clips whose lengths differ by less are not worth a warning."""


class _Shown(NamedTuple):
    """A frame and when it is shown, in seconds after the first one."""

    time_s: float
    frame: Frame


def compare(
    before: Path,
    after: Path,
    output: Path,
    *,
    start: Position | None,
    progress: ProgressCallback,
    cancelled: Callable[[], bool],
) -> list[str]:
    """Write the comparison and return what a user should know about it.

    Args:
        before: picture or clip as it was.
        after: the result, of the same kind.
        output: picture, or clip if both are clips.
        start: moment of `before` at which `after` begins.
        progress: told about every frame.
        cancelled: asked after every frame.

    Raises:
        UsageError: a picture and a clip, or a clip wanted of pictures.
        MediaError: something cannot be read or written.
        Interrupted: `cancelled` said so; nothing is written.
    """
    still = [probe(path).kind == "picture" for path in (before, after)]
    if any(still) and not all(still):
        raise UsageError(f"{before} and {after} are a picture and a clip: compare two of one kind")
    if all(still):
        _pictures(before, after, output)
        return []
    with open_clip(before, start) as old, open_clip(after) as new:
        warnings = _length_warning(old, new, chosen=start is not None)
        if is_picture_name(output):
            _moments(old, new, output)
        else:
            warnings += _clip(old, new, after if new.has_sound else None, output, progress, cancelled)
        return list(dict.fromkeys([*warnings, *old.warnings(), *new.warnings()]))


def _pictures(before: Path, after: Path, output: Path) -> None:
    pictures = read_rgb(before), read_rgb(after)
    side_by_side = SideBySide(*((picture.shape[1], picture.shape[0]) for picture in pictures))
    save_picture(side_by_side.compose(*pictures), output)


def _clip(
    before: Clip,
    after: Clip,
    sound: Path | None,
    output: Path,
    progress: ProgressCallback,
    cancelled: Callable[[], bool],
) -> list[str]:
    side_by_side = _layout(before, after)
    size = side_by_side.width, side_by_side.height
    meter = ProgressMeter("comparing", len(after.times_s))
    with publish(output) as part, ClipWriter(part, *size, frame_rate=after.frame_rate, sound=sound) as clip:
        pairs = pair(_shown(before), _shown(after), before.duration_s)
        for count, (old, new) in enumerate(pairs, start=1):
            clip.write(side_by_side.compose(old.frame.display(), new.frame.display()), new.frame.time_s)
            progress(meter.at(monotonic(), count))
            if cancelled():
                raise Interrupted("stopped, nothing was written")
    return clip.warnings


def _shown(clip: Clip) -> Iterator[_Shown]:
    return (_Shown(clip.times_s[frame.index], frame) for frame in clip.frames_from(0))


def _moments(before: Clip, after: Clip, output: Path) -> None:
    side_by_side = _layout(before, after)
    common_s = min(before.duration_s, after.duration_s)
    times_s = [common_s * (2 * number + 1) / (2 * MOMENTS) for number in range(MOMENTS)]
    divider = np.full((DIVIDER, side_by_side.width, 3), 255, np.uint8)
    rows: list[Pixels] = []
    for time_s in times_s:
        old, new = [next(clip.frames_from(clip.rank_at(time_s)), None) for clip in (before, after)]
        if old and new:
            rows += [side_by_side.compose(old.display(), new.display()), divider]
    if not rows:
        raise UnreadableError("no frame of the two clips can be decoded at the moments to be shown")
    save_picture(np.concatenate(rows[:-1]), output)


def _layout(before: Clip, after: Clip) -> SideBySide:
    return SideBySide((before.width, before.height), (after.width, after.height))


def _length_warning(before: Clip, after: Clip, *, chosen: bool) -> list[str]:
    """What to say of different lengths; where the part of `before` was `chosen`, it may well go on after the end."""
    longer_s = before.duration_s - after.duration_s
    if abs(longer_s) < _LENGTH_SLACK_S or (chosen and longer_s > 0):
        return []
    return [
        f"before lasts {before.duration_s:.2f} s, after {after.duration_s:.2f} s: the comparison ends with the shorter"
        " one (--start says at which moment of BEFORE the result begins)"
    ]
