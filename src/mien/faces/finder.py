"""A detector of the field in place of mien's own: where faces may be, for the landmarker to confirm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mien.models.blazeface import Candidates
from mien.models.families.detection import Detector, Faces

_KEYPOINTS = (0, 1, 2, (3, 4), 0, 1)
"""Of the field's five points for each of ours, two = their middle. It has no ears: eyes stand for them."""


class FieldFinder:
    """Gives what a detector of the field finds as mien's own do."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.view = detector.view
        """Longer side of the largest view it looks at, pixels."""

    def detect(self, images: Sequence[NDArray[np.uint8]]) -> list[Candidates]:
        """Upright faces of RGB pictures (height, width, 3) of any sizes.

        Raises:
            EngineError: the engine failed.
        """
        return [_candidates(faces) for faces in self._detector.detect(images)]


def _candidates(faces: Faces) -> Candidates:
    keypoints = [faces.points[:, np.atleast_1d(point)].mean(axis=1) for point in _KEYPOINTS]
    return Candidates(faces.boxes, np.stack(keypoints, axis=1).astype(np.float32), faces.scores)
