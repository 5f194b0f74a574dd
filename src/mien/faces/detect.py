"""Where faces may be in a picture of any size, at any in-plane angle: candidates for the landmarker to confirm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.faces import boxes
from mien.faces.crop import Picture, Pixels, size_of, view_of
from mien.faces.face import Detection
from mien.geometry import Rect
from mien.models.blazeface import Candidates, Variant

Floats = NDArray[np.float32]


class ViewDetector(Protocol):
    """Finds upright faces."""

    def detect(self, images: Sequence[Pixels], /) -> Sequence[Candidates]:
        """Those of each view."""
        ...


class Finder(ViewDetector, Protocol):
    """A detector that sees near and far faces alike."""

    view: int
    """Longer side of the largest view it looks at, pixels."""


Detectors = Callable[[Variant], ViewDetector]
"""Gives the detector of a variant, loaded when first asked for."""

VIEW = 256
"""Longer side of the view of the whole picture: the largest that any detector looks at."""
TILE_VIEW = 256
"""Side that a tile is shrunk to."""
SMALL = 0.06
"""A face under this share of the picture's longer side is small: others may have been too small to be seen."""


@dataclass(frozen=True, slots=True)
class View:
    """A part of a picture as a detector sees it."""

    pixels: Pixels
    area: Rect
    """Where it lies in the picture; may reach outside."""
    quarters: int = 0
    """Quarter turns by which the pixels were turned anticlockwise."""

    def place(self, candidates: Candidates) -> list[Detection]:
        """Candidates in the view's pixels as detections in the picture's."""
        height, width = self.pixels.shape[:2]
        if self.quarters % 2:
            height, width = width, height
        zoom = np.array([self.area.width / width, self.area.height / height], np.float32)
        shift = np.array([self.area.x, self.area.y], np.float32)
        found: list[Detection] = []
        for box, keypoints, score in zip(candidates.boxes, candidates.keypoints, candidates.scores, strict=True):
            points = np.concatenate([box.reshape(2, 2), keypoints])
            points = _turn_back(points, self.quarters, width, height) * zoom + shift
            corners = points[:2]
            found.append(
                Detection(
                    np.concatenate([corners.min(axis=0), corners.max(axis=0)]).astype(np.float32),
                    points[2:].astype(np.float32),
                    float(score),
                )
            )
        return found


def detect_whole(picture: Picture, finder: Finder) -> list[Detection]:
    """Faces turned less than about 45 degrees, as `finder` sees them in the whole picture."""
    return distinct(_detect([whole_view(picture, finder.view)], finder))


def detect_upright(picture: Picture, detectors: Detectors) -> list[Detection]:
    """Faces turned less than about 45 degrees: the near detector, then the far one if there may be small faces."""
    view = whole_view(picture)
    found = _detect([view], detectors("back"))
    if all(is_small(picture, one.box) for one in found):
        found += _detect([view], detectors("full_range"))
    return distinct(found)


def searches(picture: Picture, detectors: Detectors) -> list[Callable[[], list[Detection]]]:
    """Searches for a picture in which no face was found upright, to stop at the first that helps.

    Turned views, then the picture with a margin for a face that is larger than the picture. `detect_in_tiles` is next.
    """

    def turned() -> list[Detection]:
        views = [_turned(whole_view(picture), quarters) for quarters in (1, 2, 3)]
        return distinct(_detect(views, detectors("back")) + _detect(views, detectors("full_range")))

    def with_margin() -> list[Detection]:
        views = [_turned(margin_view(picture), quarters) for quarters in range(4)]
        return distinct(_detect(views, detectors("back")))

    return [turned, with_margin]


def detect_in_tiles(picture: Picture, detectors: Detectors, *quarters: int) -> list[Detection]:
    """Faces too far away to be seen in the whole picture; `quarters` as in `View`, upright if none is given."""
    views = [_turned(tile, turn) for tile in tile_views(picture) for turn in quarters or (0,)]
    return distinct(_detect(views, detectors("back"))) if views else []


def is_small(picture: Picture, box: Floats) -> bool:
    """Whether a face with this box is `SMALL`."""
    return boxes.width(box) < SMALL * max(size_of(picture))


def distinct(detections: Sequence[Detection], overlap: float = 0.3) -> list[Detection]:
    """The best of detections that overlap by more than `overlap` (intersection over union), best first."""
    kept: list[Detection] = []
    for one in sorted(detections, key=lambda detection: -detection.score):
        if all(boxes.intersection_over_union(one.box, other.box) <= overlap for other in kept):
            kept.append(one)
    return kept


def whole_view(picture: Picture, view: int = VIEW) -> View:
    """The whole picture, shrunk to at most `view` pixels."""
    width, height = size_of(picture)
    longer = max(width, height)
    side = longer // -(-longer // view)  # shrinking by a whole number is several times faster
    return View(view_of(picture, None, side), Rect(0, 0, width, height))


def margin_view(picture: Picture) -> View:
    """The whole picture in the middle of a black frame half its size wide."""
    width, height = size_of(picture)
    small = view_of(picture, None, VIEW // 2)
    rows, columns = small.shape[0] // 2, small.shape[1] // 2
    padded = np.pad(small, ((rows, rows), (columns, columns), (0, 0)))
    left, top = round(columns * width / small.shape[1]), round(rows * height / small.shape[0])
    return View(padded, Rect(-left, -top, width + 2 * left, height + 2 * top))


def tile_views(picture: Picture) -> list[View]:
    """Overlapping square tiles, half the picture's shorter side; none if the picture is small itself."""
    width, height = size_of(picture)
    side = max(min(width, height) // 2, TILE_VIEW)
    if side >= max(width, height):
        return []
    side_x, side_y = min(side, width), min(side, height)
    return [
        View(view_of(picture, area, TILE_VIEW), area)
        for y in _starts(height, side_y)
        for x in _starts(width, side_x)
        for area in [Rect(x, y, side_x, side_y)]
    ]


def _starts(length: int, side: int) -> list[int]:
    """Evenly spread starts of windows of `side` that overlap by a fifth or more."""
    count = 1 if length <= side else -(-(length - side) * 5 // (side * 4)) + 1
    return [round(step * (length - side) / max(count - 1, 1)) for step in range(count)]


def _detect(views: Sequence[View], detector: ViewDetector) -> list[Detection]:
    found = detector.detect([view.pixels for view in views])
    return [one for view, candidates in zip(views, found, strict=True) for one in view.place(candidates)]


def _turned(view: View, quarters: int) -> View:
    return View(np.ascontiguousarray(np.rot90(view.pixels, quarters)), view.area, quarters)


def _turn_back(points: Floats, quarters: int, width: int, height: int) -> Floats:
    """Points of a picture turned anticlockwise by `quarters`, in the picture of `width` x `height` before."""
    x, y = points[:, 0], points[:, 1]
    turned = ((x, y), (width - y, x), (width - x, height - y), (y, height - x))[quarters % 4]
    return np.stack(turned, axis=1)
