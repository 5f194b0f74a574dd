"""What `mien compare` does: pictures, clips, or moments of clips side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np

from mien.cli.output import is_picture_name, save_picture
from mien.cli.pairing import pair
from mien.cli.side_by_side import DIVIDER, Pixels, SideBySide
from mien.errors import Interrupted, UsageError
from mien.media.clip import ClipWriter
from mien.media.files import publish
from mien.media.frame import Frame
from mien.media.pictures import read_rgb
from mien.media.probe import probe
from mien.media.video import VideoFrame, VideoSource
from mien.pipeline.progress import ProgressCallback, ProgressMeter
from mien.recipe import Position

MOMENTS = 3
"""Moments of two clips that a picture shows, one below the other."""

_LENGTH_SLACK_S = 0.1
"""Clips whose lengths differ by less are not worth a warning."""


class _Shown(NamedTuple):
    """A frame and when it is shown, in seconds after the first one."""

    time_s: float
    frame: VideoFrame


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
    with VideoSource(before, start=start) as old, VideoSource(after) as new:
        if is_picture_name(output):
            _moments(old, new, output)
            return _length_warning(old, new)
        return [*_clip(old, new, output, progress, cancelled), *_length_warning(old, new)]


def _pictures(before: Path, after: Path, output: Path) -> None:
    pictures = read_rgb(before), read_rgb(after)
    side_by_side = SideBySide(*((picture.shape[1], picture.shape[0]) for picture in pictures))
    save_picture(side_by_side.compose(*pictures), output)


def _clip(
    before: VideoSource, after: VideoSource, output: Path, progress: ProgressCallback, cancelled: Callable[[], bool]
) -> list[str]:
    side_by_side = _layout(before, after)
    meter = ProgressMeter("comparing", after.info.frame_count)
    with (
        publish(output) as part,
        ClipWriter(
            part, side_by_side.width, side_by_side.height, frame_rate=after.info.frame_rate, sound=after.path
        ) as clip,
    ):
        for count, (old, new) in enumerate(_pairs(before, after), start=1):
            clip.write(side_by_side.compose(old.frame.display(), new.frame.display()), new.frame.time_s)
            progress(meter.at(monotonic(), count))
            if cancelled():
                raise Interrupted("stopped, nothing was written")
    return clip.warnings


def _moments(before: VideoSource, after: VideoSource, output: Path) -> None:
    side_by_side = _layout(before, after)
    common_s = min(before.info.duration_s, after.info.duration_s)
    rows: list[Pixels] = []
    for number in range(MOMENTS):
        time_s = common_s * (2 * number + 1) / (2 * MOMENTS)
        rows.append(side_by_side.compose(_frame_at(before, time_s).display(), _frame_at(after, time_s).display()))
        rows.append(np.full((DIVIDER, side_by_side.width, 3), 255, np.uint8))
    save_picture(np.concatenate(rows[:-1]), output)


def _frame_at(source: VideoSource, time_s: float) -> Frame:
    """The frame that is seen `time_s` after the first one."""
    times_s = (source.index.times - source.index.times[source.first_rank]) * float(source.time_base)
    rank = int(np.searchsorted(times_s, time_s + 1e-6, side="right")) - 1
    return next(source.frames(rank - source.first_rank))


def _layout(before: VideoSource, after: VideoSource) -> SideBySide:
    return SideBySide((before.info.width, before.info.height), (after.info.width, after.info.height))


def _pairs(before: VideoSource, after: VideoSource) -> Iterator[tuple[_Shown, _Shown]]:
    return pair(_from_first(before.frames()), _from_first(after.frames()), before.info.duration_s)


def _from_first(frames: Iterator[VideoFrame]) -> Iterator[_Shown]:
    first_s: float | None = None
    for frame in frames:
        first_s = frame.time_s if first_s is None else first_s
        yield _Shown(frame.time_s - first_s, frame)


def _length_warning(before: VideoSource, after: VideoSource) -> list[str]:
    lengths = before.info.duration_s, after.info.duration_s
    if abs(lengths[0] - lengths[1]) < _LENGTH_SLACK_S:
        return []
    return [
        f"before lasts {lengths[0]:.2f} s, after {lengths[1]:.2f} s: the comparison ends with the shorter one"
        " (--start says at which moment of BEFORE the result begins)"
    ]
