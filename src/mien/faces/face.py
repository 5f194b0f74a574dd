"""A face found in a picture, and a face followed through a video."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Pose(NamedTuple):
    """Rotation of the head in degrees; (0, 0, 0) looks into the camera."""

    yaw: float
    """Positive: the nose points to the right of the picture."""
    pitch: float
    """Positive: the nose points down."""
    roll: float
    """Positive: the head is turned clockwise in the picture."""


@dataclass(frozen=True, slots=True)
class Detection:
    """What a detector says, in pixels of the upright frame."""

    box: NDArray[np.float32]
    """(4,) left, top, right, bottom."""
    keypoints: NDArray[np.float32]
    """(6, 2) right eye, left eye (the subject's), nose tip, mouth, right ear, left ear."""
    score: float
    """0..1."""


@dataclass(frozen=True, slots=True)
class Face:
    """A face with its landmarks, in pixels of the upright frame."""

    box: NDArray[np.float32]
    """(4,) left, top, right, bottom of the landmarks."""
    score: float
    """0..1: how sure the landmarker is that this is a face."""
    landmarks: NDArray[np.float32]
    """(478, 3) x, y in pixels, z on the same scale (smaller = nearer); 468-477 are the irises."""
    pose: Pose
    embedding: NDArray[np.float32] | None = None
    """(128,) identity embedding, or None where it was not asked for."""


@dataclass(frozen=True, slots=True)
class TrackedFace:
    """A face in one frame of a video, as its track sees it: landmarks filtered, identity known."""

    face: Face
    track: int
    """Number of the track, unique in a job."""
    person: int | None
    """Index of the person in the survey, or None where persons were not told apart."""
    neutral: NDArray[np.float32] | None
    """(468, 3) the person's own mean face in the canonical mesh's coordinates (cm), or None if not known."""
    fade: float
    """0..1: how much of an edit should show (a profile, a face about to be lost or just found fades)."""
    fresh: bool
    """True on the first frame of a track and after a cut: whoever smooths over time starts anew."""
    velocity: float = 0.0
    """Motion of the face since the last frame, in face widths."""
    flags: tuple[str, ...] = ()
    """Why this frame may need a look: `profile`, `lost`, `low-score`, ..."""
    points: NDArray[np.float32] | None = None
    """(68, 2) of the field's landmarks, whole numbers at pixels' centres; None = the mesh's are taken for them."""
