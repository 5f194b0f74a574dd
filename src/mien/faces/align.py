"""Similarities between point sets, head pose, and faces freed of their pose.

Picture coordinates are continuous: the pixel in column x, row y covers x..x+1, y..y+1, its centre is at (x+.5, y+.5).
Picture axes are x right, y down, z away from the camera.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mien.faces import mesh
from mien.faces.face import Pose

Floats = NDArray[np.float32]

_TO_PICTURE_AXES = np.array([1, -1, -1], np.float32)  # the mesh's y and z point the other way
_ANCHORS = mesh.XYZ[mesh.PROCRUSTES_VERTICES] * _TO_PICTURE_AXES


@dataclass(frozen=True, slots=True)
class Similarity:
    """Turn, scale and shift of points in 2 or 3 dimensions: `scale * rotation @ point + shift`."""

    scale: float
    rotation: Floats
    """(d, d), determinant 1."""
    shift: Floats
    """(d,)"""

    def apply(self, points: Floats) -> Floats:
        """Move (n, d) points."""
        return (self.scale * points @ self.rotation.T + self.shift).astype(np.float32)

    def inverse(self) -> Similarity:
        """The way back."""
        rotation = self.rotation.T
        return Similarity(1 / self.scale, rotation, (-rotation @ self.shift / self.scale).astype(np.float32))

    @property
    def matrix(self) -> Floats:
        """(d, d+1), as OpenCV takes it for d = 2."""
        return np.concatenate([self.scale * self.rotation, self.shift[:, None]], axis=1).astype(np.float32)


def similarity(source: Floats, target: Floats, weights: Floats | None = None) -> Similarity:
    """The similarity that brings `source` nearest to `target` in weighted least squares (Umeyama 1991).

    Args:
        source: (n, 3) points.
        target: (n, 3) where they should go.
        weights: (n,) or None for equal ones.
    """
    a, b, w, mean_a, mean_b = _centred(source[:, :3], target[:, :3], weights)
    u, singular, v = np.linalg.svd((w[:, None] * b).T @ a)
    signs = np.array([1, 1, np.sign(np.linalg.det(u @ v))])  # a turn, never a reflection
    rotation = (u * signs) @ v
    spread = float(w @ (a * a).sum(axis=1))
    scale = float(singular @ signs) / spread if spread > 0 else 1.0
    return Similarity(scale, rotation.astype(np.float32), (mean_b - scale * rotation @ mean_a).astype(np.float32))


def similarity_2d(source: Floats, target: Floats, weights: Floats | None = None) -> Similarity:
    """As `similarity`, of the first two coordinates of each point."""
    a, b, w, mean_a, mean_b = _centred(source[:, :2], target[:, :2], weights)
    # In the plane, a turn with scale is one complex factor, and its least squares are a quotient.
    spread = float(w @ (a * a).sum(axis=1))
    along = float(w @ (a * b).sum(axis=1))
    across = float(w @ (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))
    length = math.hypot(along, across)
    cosine, sine = (along / length, across / length) if length > 0 else (1.0, 0.0)
    rotation = np.array([[cosine, -sine], [sine, cosine]])
    scale = length / spread if spread > 0 else 1.0
    return Similarity(scale, rotation.astype(np.float32), (mean_b - scale * rotation @ mean_a).astype(np.float32))


def head_placement(landmarks: Floats) -> Similarity:
    """From the canonical mesh in picture axes (cm) to landmarks (pixels), fitted to the parts that move least."""
    return similarity(_ANCHORS, landmarks[mesh.PROCRUSTES_VERTICES], mesh.PROCRUSTES_WEIGHTS)


def head_pose(landmarks: Floats) -> Pose:
    """Rotation of the head against the canonical mesh, in degrees (see `Pose` for the signs).

    The turn is split as roll in the picture's plane after yaw after pitch, so yaw and pitch of a face lying on its
    side are those it has when the picture is turned upright.
    """
    return pose_of(head_placement(landmarks).rotation)


def pose_of(rotation: Floats) -> Pose:
    """The angles of a rotation matrix (3, 3) in picture axes."""
    yaw = math.asin(min(max(float(rotation[2, 0]), -1.0), 1.0))
    pitch = math.atan2(float(rotation[2, 1]), float(rotation[2, 2]))
    roll = math.atan2(float(rotation[1, 0]), float(rotation[0, 0]))
    return Pose(*(math.degrees(angle) for angle in (yaw, pitch, roll)))


def rotation_of(pose: Pose) -> Floats:
    """The rotation matrix (3, 3) in picture axes of a pose; inverse of `pose_of`."""
    yaw, pitch, roll = (math.radians(angle) for angle in pose)
    x = [[1, 0, 0], [0, math.cos(pitch), -math.sin(pitch)], [0, math.sin(pitch), math.cos(pitch)]]
    y = [[math.cos(yaw), 0, -math.sin(yaw)], [0, 1, 0], [math.sin(yaw), 0, math.cos(yaw)]]
    z = [[math.cos(roll), -math.sin(roll), 0], [math.sin(roll), math.cos(roll), 0], [0, 0, 1]]
    return (np.array(z) @ np.array(y) @ np.array(x)).astype(np.float32)


def to_canonical(landmarks: Floats, placement: Similarity | None = None) -> Floats:
    """The face without its pose and size: (468, 3) cm in the canonical mesh's axes.

    Args:
        landmarks: (468 or more, 3) in pixels.
        placement: The head's placement if known already.
    """
    placed = placement or head_placement(landmarks)
    return placed.inverse().apply(landmarks[: mesh.VERTICES]) * _TO_PICTURE_AXES


def from_canonical(shape: Floats, placement: Similarity) -> Floats:
    """Put a face (n, 3) in the canonical mesh's axes (cm) back into the picture: (n, 3) pixels."""
    return placement.apply(shape * _TO_PICTURE_AXES)


_Doubles = NDArray[np.float64]


def _centred(
    source: Floats, target: Floats, weights: Floats | None
) -> tuple[_Doubles, _Doubles, _Doubles, _Doubles, _Doubles]:
    """Both point sets about their weighted means, the weights (sum 1), and the two means."""
    a, b = source.astype(np.float64), target.astype(np.float64)
    w = np.full(len(a), 1 / len(a)) if weights is None else weights.astype(np.float64) / float(weights.sum())
    mean_a, mean_b = w @ a, w @ b
    return a - mean_a, b - mean_b, w, mean_a, mean_b
