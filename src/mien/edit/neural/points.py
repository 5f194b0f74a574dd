"""The points of a tracked face that the field's networks go by."""

from __future__ import annotations

from mien.edit.raster import Floats
from mien.faces.face import TrackedFace
from mien.models.families.landmark_sets import five_of_68, sixty_eight_of_mesh


def sixty_eight_of(face: TrackedFace) -> Floats:
    """(68, 2) in pixels of the frame, whole numbers at pixels' centres."""
    return sixty_eight_of_mesh(face.face.landmarks) if face.points is None else face.points


def five_of(face: TrackedFace) -> Floats:
    """(5, 2) likewise: eyes, tip of the nose, corners of the mouth."""
    return five_of_68(sixty_eight_of(face))
