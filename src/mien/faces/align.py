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
        source: (n, d) points, d = 2 or 3.
        target: (n, d) where they should go.
        weights: (n,) or None for equal ones.
    """
    a, b = source.astype(np.float64), target.astype(np.float64)
    w = np.ones(len(a)) if weights is None else weights.astype(np.float64)
    w = (w / w.sum())[:, None]
    mean_a, mean_b = (w * a).sum(0), (w * b).sum(0)
    a, b = a - mean_a, b - mean_b
    u, singular, v = np.linalg.svd((w * b).T @ a)
    signs = np.ones(len(singular))
    signs[-1] = np.sign(np.linalg.det(u) * np.linalg.det(v)) or 1.0  # a turn, never a reflection
    rotation = (u * signs) @ v
    spread = (w * a * a).sum()
    scale = float((singular * signs).sum() / spread) if spread > 0 else 1.0
    shift = mean_b - scale * rotation @ mean_a
    return Similarity(scale, rotation.astype(np.float32), shift.astype(np.float32))


def similarity_2d(source: Floats, target: Floats, weights: Floats | None = None) -> Similarity:
    """As `similarity`, of the first two coordinates of each point."""
    return similarity(source[:, :2], target[:, :2], weights)


def similarity_3d(source: Floats, target: Floats, weights: Floats | None = None) -> Similarity:
    """As `similarity`, for points (n, 3)."""
    return similarity(source[:, :3], target[:, :3], weights)


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
