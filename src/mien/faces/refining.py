"""The 68 points that the field's networks align faces by, from a landmarker of the field instead of the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mien.faces.face import TrackedFace
from mien.media.frame import Frame
from mien.models.families.face_view import ViewLandmarker, quarter_angle
from mien.models.families.fan_68_5 import Fan68From5
from mien.models.families.landmark_sets import five_of_68, sixty_eight_of_mesh

SURE = 0.5
"""Score from which on the field takes a landmarker's points, and leaves them to another one below."""


class Refiner:
    """Adds a network's 68 points to faces."""

    def __init__(self, landmarker: ViewLandmarker | Fan68From5) -> None:
        self._landmarker = landmarker

    def refine(self, frame: Frame, faces: Sequence[TrackedFace]) -> list[TrackedFace]:
        """The faces of a frame that no effect has changed yet; those that the network is not sure of stay as they are.

        Raises:
            EngineError: the engine failed.
        """
        if not faces:
            return []
        rough = np.stack([sixty_eight_of_mesh(face.face.landmarks) for face in faces])
        if isinstance(self._landmarker, Fan68From5):
            found, scores = self._landmarker.estimate(five_of_68(rough)), np.ones(len(faces))
        else:
            boxes = [face.face.box - np.float32(0.5) for face in faces]
            seen = self._landmarker.landmarks(frame.display(), boxes, [quarter_angle(points) for points in rough])
            found, scores = seen.points, seen.scores
        return [
            replace(face, points=points) if score >= SURE else face
            for face, points, score in zip(faces, found, scores, strict=True)
        ]
