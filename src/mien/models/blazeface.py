"""MediaPipe's BlazeFace detectors: a small square view in, boxes and six keypoints out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Faces that a detector sees in one image, best first, in pixels of that image."""

    boxes: Floats
    """(n, 4) left, top, right, bottom."""
    keypoints: Floats
    """(n, 6, 2) right eye, left eye (the subject's), nose tip, mouth, right ear, left ear."""
    scores: Floats
    """(n,) 0..1."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What differs between the variants."""

    model: str
    """Catalogue id."""
    side: int
    """Width and height of the network's view, pixels."""
    grids: tuple[tuple[int, int], ...]
    """Anchors: (cells per side, anchors per cell) of each layer, in the order of the network's rows."""
    input: str
    regressors: str
    scores: str


_MARKS = ("input", "regressors", "classificators")
LAYOUTS = {
    "back": Layout("face_detection_back", 256, ((16, 2), (8, 6)), *_MARKS),
    "short_range": Layout("face_detection_short_range", 128, ((16, 2), (8, 6)), *_MARKS),
    "full_range": Layout(
        "face_detection_full_range",
        192,
        ((48, 1),),
        "input",
        "reshaped_regressor_face_4",
        "reshaped_classifier_face_4",
    ),
}
Variant = Literal["back", "full_range", "short_range"]

_LOGIT_LIMIT = 100.0  # MediaPipe's score_clipping_thresh
_OVERLAP = 0.3  # MediaPipe's min_suppression_threshold


class BlazeFace:
    """One detector."""

    def __init__(self, session: Session, variant: Variant) -> None:
        self._session = session
        self._layout = LAYOUTS[variant]
        self._anchors = _anchor_centres(self._layout.grids)

    def detect(self, images: Sequence[NDArray[np.uint8]], *, threshold: float = 0.5) -> list[Candidates]:
        """Find upright faces in each image.

        Args:
            images: RGB uint8 (height, width, 3) of any size; each is fitted into the network's square view.
            threshold: Lowest score to report, 0..1.

        Raises:
            EngineError: the engine failed.
        """
        layout = self._layout
        batch = np.empty((len(images), layout.side, layout.side, 3), np.float32)
        fits = [_letterbox(image, out) for image, out in zip(images, batch, strict=True)]
        outputs = self._session.run({layout.input: batch})
        return [
            self._decode(regressors, logits[:, 0], fit, threshold)
            for regressors, logits, fit in zip(outputs[layout.regressors], outputs[layout.scores], fits, strict=True)
        ]

    def _decode(
        self, regressors: Floats, logits: Floats, fit: tuple[float, float, float], threshold: float
    ) -> Candidates:
        scores = 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -_LOGIT_LIMIT, _LOGIT_LIMIT)))
        keep = np.flatnonzero(scores > threshold)
        keep = keep[np.argsort(-scores[keep], kind="stable")]
        side, (zoom, left, top) = self._layout.side, fit
        # Rows are centre, size, then keypoints; all but the size are relative to the anchor's centre.
        points = regressors[keep].reshape(-1, 8, 2) / side
        size = points[:, 1].copy()
        points += self._anchors[keep, None]
        corners = np.stack([points[:, 0] - size / 2, points[:, 0] + size / 2], axis=1)
        marks = np.concatenate([corners, points[:, 2:]], axis=1)
        marks = ((marks * side - np.array([left, top])) / zoom).astype(np.float32)
        return merge_overlapping(
            Candidates(marks[:, :2].reshape(-1, 4), marks[:, 2:], scores[keep].astype(np.float32)), _OVERLAP
        )


def merge_overlapping(candidates: Candidates, overlap: float) -> Candidates:
    """Non-maximum suppression that averages what it suppresses, weighted by score (as the detectors expect).

    Args:
        candidates: Best first.
        overlap: Intersection over union above which two boxes are one face.
    """
    boxes, keypoints, scores = candidates.boxes, candidates.keypoints, candidates.scores
    free = np.ones(len(scores), bool)
    merged: list[tuple[Floats, Floats, float]] = []
    for best in range(len(scores)):
        if not free[best]:
            continue
        same = free & (_overlaps(boxes[best], boxes) > overlap)
        same[best] = True
        free &= ~same
        weights: Floats = scores[same] / scores[same].sum()
        points = np.tensordot(weights, keypoints[same], 1)
        merged.append(((weights @ boxes[same]).astype(np.float32), points.astype(np.float32), float(scores[best])))
    return Candidates(
        np.array([box for box, _, _ in merged], np.float32).reshape(-1, 4),
        np.array([points for _, points, _ in merged], np.float32).reshape(-1, 6, 2),
        np.array([score for _, _, score in merged], np.float32),
    )


def _overlaps(box: Floats, boxes: Floats) -> Floats:
    """(n,) overlap of one (4,) box with (n, 4) boxes, 0..1."""
    inner = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    shared = np.prod(np.maximum(inner, 0), axis=1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return shared / np.maximum(areas + np.prod(box[2:] - box[:2]) - shared, 1e-9)


def _anchor_centres(grids: tuple[tuple[int, int], ...]) -> Floats:
    """(rows, 2) x, y of each row's anchor in 0..1 of the view."""
    layers: list[Floats] = []
    for cells, per_cell in grids:
        y, x = np.mgrid[:cells, :cells].reshape(2, -1)
        centres = (np.stack([x, y], axis=1) + 0.5) / cells
        layers.append(np.repeat(centres, per_cell, axis=0).astype(np.float32))
    return np.concatenate(layers)


def _letterbox(image: NDArray[np.uint8], out: Floats) -> tuple[float, float, float]:
    """Fit an image into the middle of the square `out` (-1..1, black around): zoom, left, top."""
    side = out.shape[0]
    height, width = image.shape[:2]
    zoom = side / max(height, width)
    inner = max(round(width * zoom), 1), max(round(height * zoom), 1)
    if inner != (width, height):
        image = cv2.resize(image, inner, interpolation=cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR)  # type: ignore[assignment]
    left, top = (side - inner[0]) // 2, (side - inner[1]) // 2
    out.fill(-1)
    out[top : top + inner[1], left : left + inner[0]] = image * np.float32(1 / 127.5) - 1
    return zoom, left, top
