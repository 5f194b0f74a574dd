"""What the field's detectors share: the view of a picture, faces in its pixels, and the suppression of doubles."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session
from mien.models.families.family import Family, Floats, Network, Rule, side_of

OVERLAP = 0.4
"""Intersection over union above which two boxes are one face."""
STRIDES = (8, 16, 32)
"""Pixels between neighbouring anchors of each layer of anchor detectors."""


@dataclass(frozen=True, slots=True)
class Faces:
    """Faces of one picture, best first, in its pixels."""

    boxes: Floats
    """(n, 4) left, top, right, bottom."""
    points: Floats
    """(n, 5, 2) left eye, right eye, nose tip, left and right mouth corner, as seen in the picture."""
    scores: Floats
    """(n,) 0..1."""

    def __post_init__(self) -> None:
        count = len(self.scores)
        if self.boxes.shape != (count, 4) or self.points.shape != (count, 5, 2):
            raise ValueError(f"{count} scores, boxes {self.boxes.shape}, points {self.points.shape}")


class Detector(Family):
    """A detector that sees a picture in the top left corner of a black square."""

    role = "detector"
    inputs = (Rule("input", (None, 3, None, None)),)
    side: ClassVar[int] = 640
    """Of the view where the file leaves it open, pixels."""
    scale: ClassVar[float] = 1.0
    offset: ClassVar[float] = 0.0
    """The network's values are `(byte - offset) / scale`; its channels are blue, green, red."""

    def __init__(self, session: Session, side: int | None = None) -> None:
        """Set up.

        Args:
            session: The network.
            side: Width and height of its view, pixels.
        """
        super().__init__(session)
        self._side = side or self.side

    @property
    def view(self) -> int:
        """Width and height of the view, pixels."""
        return self._side

    @classmethod
    def open(cls, session: Session, network: Network) -> Self:
        """The adapter of a file: its view is the file's where that is fixed."""
        return cls(session, side_of(network, 3, cls.side))

    def detect(self, images: Sequence[NDArray[np.uint8]], *, threshold: float = 0.5) -> list[Faces]:
        """Find upright faces.

        Args:
            images: RGB uint8 (height, width, 3), of any sizes.
            threshold: Lowest score, 0..1.

        Raises:
            EngineError: the engine failed.
        """
        views = np.full((len(images), self._side, self._side, 3), -self.offset / self.scale, np.float32)
        ratios = [self._show(image, view) for image, view in zip(images, views, strict=True)]
        batch = np.ascontiguousarray(views.transpose(0, 3, 1, 2))
        outputs = self._run({"input": batch}) if len(images) else ()
        return [
            _in_picture(self._decode([output[i] for output in outputs], threshold), ratio)
            for i, ratio in enumerate(ratios)
        ]

    @abstractmethod
    def _decode(self, outputs: Sequence[NDArray[Any]], threshold: float) -> Faces:
        """Candidates of one view in its pixels, in any order, doubles included."""

    def _show(self, image: NDArray[np.uint8], view: Floats) -> NDArray[np.float64]:
        """Draw a picture into its view, shrunk if need be: (2,) pixels of the picture per pixel of the view."""
        height, width = image.shape[:2]
        zoom = min(self._side / max(height, width), 1)
        inner = max(int(width * zoom), 1), max(int(height * zoom), 1)
        small = image if zoom == 1 else cv2.resize(image, inner)
        view[: inner[1], : inner[0]] = (small[..., ::-1] - np.float32(self.offset)) / np.float32(self.scale)
        return np.array([width / inner[0], height / inner[1]])


def join_layers(layers: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]) -> Faces:
    """Candidates of several layers: each has boxes (n, 4), points (n, 10) and scores (n,)."""
    boxes, points, scores = (np.concatenate(parts) for parts in zip(*layers, strict=True))
    return Faces(boxes.astype(np.float32), points.reshape(-1, 5, 2).astype(np.float32), scores.astype(np.float32))


def anchors(side: int, stride: int, per_cell: int) -> Floats:
    """(n, 2) x, y of the anchors of one layer, row by row, in pixels of a view of `side` pixels."""
    rows, columns = np.mgrid[: side // stride, : side // stride].reshape(2, -1)
    return np.repeat(np.stack([columns, rows], axis=1) * np.float32(stride), per_cell, axis=0).astype(np.float32)


def suppress(faces: Faces, overlap: float = OVERLAP) -> Faces:
    """Best first, without faces that overlap a better one."""
    free = np.argsort(-faces.scores, kind="stable")
    kept: list[int] = []
    while len(free):
        best, free = int(free[0]), free[1:]
        kept.append(best)
        free = free[_overlaps(faces.boxes[best], faces.boxes[free]) <= overlap]
    return Faces(faces.boxes[kept], faces.points[kept], faces.scores[kept])


def _overlaps(box: Floats, boxes: Floats) -> NDArray[np.float64]:
    inner = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    shared = np.prod(np.maximum(inner, 0), axis=1, dtype=np.float64)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1, dtype=np.float64)
    own = np.prod(box[2:] - box[:2], dtype=np.float64)
    return shared / np.maximum(areas + own - shared, 1e-9)


def _in_picture(faces: Faces, ratio: NDArray[np.float64]) -> Faces:
    boxes = (faces.boxes.reshape(-1, 2, 2) * ratio).reshape(-1, 4).astype(np.float32)
    return suppress(Faces(boxes, (faces.points * ratio).astype(np.float32), faces.scores))
