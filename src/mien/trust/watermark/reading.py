"""Looks for the mark in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mien.errors import UnreadableError
from mien.media.animation import AnimationSource
from mien.media.frame import Frame
from mien.media.pictures import read_picture
from mien.media.probe import probe
from mien.media.video import VideoSource
from mien.trust.watermark.detection import WORK_SIDE, Detection, detect

FRAMES = 32
"""Frames of a video that have a vote: as good as all of them, as the mark is the same in each."""
_PLACES = 8
"""Keyframes from which on they are taken, spread over the video: decoding can begin there, and they are coded best."""
_STRIDE = 2
"""From one to the next: neighbours show the same."""


def detect_file(path: str | Path) -> Detection:
    """Look for a mark in a picture, an animation or a video; takes a second or two, however long it is.

    Raises:
        UnreadableError: missing, damaged, or none of these.
        UnsupportedMediaError: a picture that needs an extra.
    """
    kind = probe(path).kind
    if kind == "picture":
        return detect(_views([read_picture(path)]))
    if kind == "animation":
        with AnimationSource(path) as animation:
            step = -(-animation.info.frame_count // FRAMES)
            return _detected(path, islice(animation.frames(), 0, None, step))
    with VideoSource(path) as video:
        return _detected(path, _votes(video))


def _detected(path: str | Path, frames: Iterable[Frame]) -> Detection:
    views = _views(frames)
    first = next(views, None)
    if first is None:
        raise UnreadableError(f"{path} has no picture that can be decoded")
    return detect(chain([first], views))


def _views(frames: Iterable[Frame]) -> Iterator[NDArray[np.uint8]]:
    """Frames as a person would see them, no larger than needed."""
    for frame in frames:
        longer, shorter = max(frame.width, frame.height), min(frame.width, frame.height)
        yield frame.display(max_side=max(-(-longer * WORK_SIDE // shorter), 1))


def _votes(video: VideoSource) -> Iterator[Frame]:
    """Frames that tell about the whole video."""
    places = _spread(video.keyframes() or (0,))
    each = -(-FRAMES // len(places))
    for place in places:
        yield from islice(video.frames(place, place + each * _STRIDE), 0, None, _STRIDE)


def _spread(keyframes: Sequence[int]) -> Sequence[int]:
    """At most `_PLACES` of them."""
    if len(keyframes) <= _PLACES:
        return keyframes
    return [keyframes[number * (len(keyframes) - 1) // (_PLACES - 1)] for number in range(_PLACES)]
