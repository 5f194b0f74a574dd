"""Cuts between shots, seen on thumbnails."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.media.frame import Frame

Thumbnail = NDArray[np.float32]
"""Luma 0..255 (height, width) of a frame shrunk to 48 pixels."""

SIDE = 48
"""Longer side of a thumbnail, pixels: fine enough to tell shots apart, too coarse to see noise."""
_EMPTY = 6.0  # standard deviation of luma under which a picture (black, white, a flash) says nothing
_SHIFT = 6  # thumbnail pixels that a camera or a person moves from frame to frame at most
_UNLIKE = 0.55  # correlation, once shifted onto each other, that frames of one shot never fall under
_ALIKE = 0.85  # correlation that is not in doubt
_LEAP = 0.1  # drop of the correlation under what is usual in this shot that raises doubt
_OTHER_TONES = 0.14  # part of the picture whose tones changed; motion leaves tones as they are
_FLASH = 0.1  # part of the picture that begins or ceases to be white
_WHITE = 245
_MEMORY = 0.9
_CHANGED = 4.0  # difference of a thumbnail's pixel that something new makes; noise averages to a tenth of that


def thumbnail(frame: Frame) -> Thumbnail:
    """The thumbnail of a frame."""
    return thumbnail_of(frame.display(max_side=SIDE))


def thumbnail_of(image: NDArray[np.uint8]) -> Thumbnail:
    """The thumbnail of an RGB uint8 image."""
    zoom = SIDE / max(image.shape[:2])
    if zoom < 1:
        size = max(round(image.shape[1] * zoom), 1), max(round(image.shape[0] * zoom), 1)
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    return cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)


def resemblance(first: Thumbnail, second: Thumbnail) -> float:
    """-1..1: correlation of two thumbnails at the shift (a sixth of the picture at most) at which they agree best.

    Brightness and contrast drop out, so that a flash changes little; motion drops out with the shift.
    """
    rows = min(_SHIFT, (first.shape[0] - 1) // 4)
    columns = min(_SHIFT, (first.shape[1] - 1) // 4)
    middle = first[rows : first.shape[0] - rows, columns : first.shape[1] - columns]
    return float(cv2.matchTemplate(second, middle, cv2.TM_CCOEFF_NORMED).max())


def changed_tones(first: Thumbnail, second: Thumbnail) -> float:
    """0..1: part of the picture by which the histograms differ, brightness and contrast set equal."""
    return float(np.abs(_tones(first) - _tones(second)).sum() / 2)


def whitened(first: Thumbnail, second: Thumbnail) -> float:
    """0..1: part of the picture that is white in one of two thumbnails only, as a flash does."""
    return abs(float((first > _WHITE).mean()) - float((second > _WHITE).mean()))


def changed_outside(before: Thumbnail, after: Thumbnail, boxes: Sequence[NDArray[np.float32]]) -> bool:
    """Whether something new is seen outside of boxes (left, top, right, bottom; 0..1 over the picture)."""
    if before.shape != after.shape:
        return True
    changed = np.abs(after - before) > _CHANGED
    height, width = after.shape
    for box in boxes:
        left, top, right, bottom = (np.clip(box, 0, 1) * (width, height, width, height)).astype(int).tolist()
        changed[top : bottom + 1, left : right + 1] = False
    return bool(changed.any())


class CutDetector:
    """Says at each frame whether a new shot begins."""

    def __init__(self) -> None:
        self._last: Thumbnail | None = None
        self._usual = 1.0

    def update(self, view: Thumbnail) -> bool:
        """Take in the next frame's thumbnail; True if it does not belong to the shot so far.

        Frames without content (black, white) are passed over: what comes after is compared with what came before.
        """
        if float(view.std()) < _EMPTY:
            return False
        last, self._last = self._last, view
        if last is None or last.shape != view.shape:
            return last is not None
        alike = resemblance(last, view)
        if alike < _UNLIKE or (alike < min(_ALIKE, self._usual - _LEAP) and _looks_different(last, view)):
            self._usual = 1.0
            return True
        self._usual = _MEMORY * self._usual + (1 - _MEMORY) * alike
        return False


def find_cuts(views: Sequence[Thumbnail]) -> list[int]:
    """Indices of the frames at which a new shot begins."""
    detector = CutDetector()
    return [index for index, view in enumerate(views) if detector.update(view)]


def _looks_different(first: Thumbnail, second: Thumbnail) -> bool:
    return changed_tones(first, second) > _OTHER_TONES and whitened(first, second) < _FLASH


def _tones(view: Thumbnail) -> NDArray[np.float64]:
    level = (view - view.mean()) / max(float(view.std()), 1e-6)
    return np.histogram(level, bins=16, range=(-2.5, 2.5))[0] / view.size
