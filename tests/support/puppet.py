"""A still picture of a person as a puppet: its head turns, its eyes and mouth open and close.

The 478 landmarks of the face are continued outwards by rings that carry hair, ears, neck and shoulders; the last ring
is fixed to the picture. All anatomy (what moves with the jaw, where the lids meet) is given in the coordinates of the
canonical face mesh, in centimetres, x to the right of the picture, y down, z away from the camera.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import cv2
import numpy as np
from numpy.typing import NDArray

from support.cutout import fill_face, plate, refine, widen

Array = NDArray[np.float64]

OVAL = np.array([
    10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148, 176, 149,
    150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109
])  # fmt: skip
"""Outline of the face mesh, clockwise on the screen from the top of the forehead."""
INNER_LIPS = np.array([78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308, 324, 318, 402, 317, 14, 87, 178, 88, 95])
LOWER_LIP = np.array([324, 318, 402, 317, 14, 87, 178, 88, 95, 375, 321, 405, 314, 17, 84, 181, 91, 146])
UPPER_LIP = np.array([191, 80, 81, 82, 13, 312, 311, 310, 415, 185, 40, 39, 37, 0, 267, 269, 270, 409])
MOUTH_CORNERS = np.array([61, 291, 78, 308])
UPPER_LIDS = np.array([246, 161, 160, 159, 158, 157, 173, 466, 388, 387, 386, 385, 384, 398])
LOWER_LIDS = np.array([7, 163, 144, 145, 153, 154, 155, 249, 390, 373, 374, 380, 381, 382])
"""The lid points below `UPPER_LIDS`, one for one."""
EYES = np.array([
    [33, 246, 161, 160, 159, 158, 157, 173, 133, 155, 154, 153, 145, 144, 163, 7],
    [362, 398, 384, 385, 386, 387, 388, 466, 263, 249, 390, 373, 374, 380, 381, 382],
])  # fmt: skip
"""Outlines of what is to be seen of the eyeballs."""
UPPER_CREASES = np.array([247, 30, 29, 27, 28, 56, 190, 467, 260, 259, 257, 258, 286, 414])
"""The next row above `UPPER_LIDS`, one for one."""
EARS = np.array([234, 454])

_RINGS = np.array([1.12, 1.28, 1.5, 1.8, 2.2, 2.7, 3.3])
"""Sizes of the rings around the face, as multiples of the oval."""


@dataclass(frozen=True, slots=True)
class Expression:
    """What a face does, on top of what it does in the still."""

    blink: float = 0.0
    """0 = as in the still, 1 = closed."""
    mouth: float = 0.0
    """0 = as in the still, 1 = lower lip moved down by half of the mouth's width."""
    smile: float = 0.0
    """0 = as in the still, 1 = a broad smile; negative: the corners sink."""


@dataclass(frozen=True, slots=True)
class Puppet:
    """A picture and the mesh that moves it."""

    name: str
    picture: NDArray[np.uint8]
    """(height, width, 4) RGB and coverage: the person without the background."""
    plate: NDArray[np.uint8]
    """(height, width, 3) RGB: the background without the person."""
    vertices: Array
    """(478 + rings, 3) pixels of the picture."""
    follow: Array
    """(478 + rings,) 0..1: how much a vertex follows the head."""
    triangles: NDArray[np.int64]
    rotation: Array
    """(3, 3) pose of the head in the still: canonical axes to picture axes."""
    scale: float
    """Pixels per centimetre."""

    @property
    def landmarks(self) -> Array:
        """(478, 3) in the still."""
        return self.vertices[:478]

    @property
    def face_width(self) -> float:
        """Width of the face in the still in pixels, as its landmarks span it."""
        return float(np.ptp(self.landmarks[:, 0]))

    @property
    def centre(self) -> Array:
        """(2,) middle of the face in the still."""
        return (self.landmarks[:, :2].min(0) + self.landmarks[:, :2].max(0)) / 2

    @property
    def pivot(self) -> Array:
        """(3,) point the head turns around: between the ears."""
        return self.vertices[EARS].mean(0)

    def resized(self, factor: float) -> Puppet:
        """The same puppet with a picture `factor` times the size."""
        interpolation = cv2.INTER_AREA if factor < 1 else cv2.INTER_LANCZOS4
        picture = cv2.resize(self.picture, None, fx=factor, fy=factor, interpolation=interpolation)
        exact = np.array([picture.shape[1] / self.picture.shape[1], picture.shape[0] / self.picture.shape[0]])
        return replace(
            self,
            picture=picture,
            plate=cv2.resize(self.plate, picture.shape[1::-1], interpolation=interpolation),
            vertices=self.vertices * [*exact, exact.mean()],
            scale=self.scale * exact.mean(),
        )

    def pose(self, expression: Expression, turn: Array, shift: Array) -> Array:
        """Vertices (n, 3) in pixels of the picture.

        Args:
            expression: of the face.
            turn: (3,) yaw, pitch, roll in degrees, added to the still's own pose.
            shift: (2,) of the head over the shoulders, in face widths.
        """
        moved = self.vertices + self._express(expression)
        followed = np.round(self.follow, 3)
        levels, level_of = np.unique(followed, return_inverse=True)
        rotations = np.stack([rotation(turn * level) for level in levels])
        moved = np.einsum("nij,nj->ni", rotations[level_of], moved - self.pivot) + self.pivot
        moved[:, :2] += self.follow[:, None] * shift * self.face_width
        return moved

    def _express(self, expression: Expression) -> Array:
        """(n, 3) displacement of the vertices in pixels."""
        anatomy = _anatomy()
        face = np.zeros((478, 3))
        face[:468] = anatomy.jaw * expression.mouth + anatomy.smile * expression.smile
        face = face @ self.rotation.T * self.scale
        gap = self.vertices[LOWER_LIDS] - self.vertices[UPPER_LIDS]
        face[UPPER_LIDS] += 0.92 * expression.blink * gap
        face[UPPER_CREASES] += 0.35 * expression.blink * gap
        face[LOWER_LIDS] -= 0.04 * expression.blink * gap
        return with_surroundings(face)


def make_puppet(
    name: str, picture: NDArray[np.uint8], landmarks: NDArray[np.floating], person: NDArray[np.floating]
) -> Puppet:
    """A puppet from a picture (height, width, 3) RGB.

    Args:
        name: who it is.
        picture: with one person, whose shoulders reach the lower edge.
        landmarks: (478, 3) of the face, in pixels.
        person: (height, width) 0..1: where the person is.
    """
    coverage = refine(picture, person)
    skin, body = fill_face(picture, coverage, landmarks[_load()["tri"].astype(int), :2])
    cut, margin = widen(np.dstack([skin, np.round(body * 255).astype(np.uint8)]))
    face = landmarks.astype(np.float64) + np.array([margin, 0, 0])
    pose, scale = head_placement(face)
    rings, ring_follow = _surroundings(face)
    return Puppet(
        name=name,
        picture=cut,
        plate=plate(picture, coverage, margin),
        vertices=np.concatenate([face, rings]),
        follow=np.concatenate([np.ones(478), ring_follow]),
        triangles=_triangles(),
        rotation=pose,
        scale=scale,
    )


def with_surroundings(displacement: Array) -> Array:
    """Continue a displacement of the face (478, 3) to all vertices, fading out around it."""
    fading = np.clip(1 - (_RINGS - 1) / 0.9, 0, 1)
    rings = fading[:, None, None] * displacement[OVAL]
    return np.concatenate([displacement, rings.reshape(-1, 3)])


def _surroundings(face: Array) -> tuple[Array, Array]:
    """Rings (7 * 36, 3) around the face, and how much they follow the head (7 * 36,)."""
    oval = face[OVAL]
    centre = oval[:, :2].mean(0)
    outwards = oval[:, :2] - centre
    up = -outwards[:, 1] / np.linalg.norm(outwards, axis=1)
    # The skull goes with the head up to the hair or hat; the neck is left behind soon.
    full = np.interp(up, [-1, -0.2, 0.3, 1], [1.0, 1.25, 1.4, 2.0])
    none = np.interp(up, [-1, -0.2, 0.3, 1], [2.1, 2.6, 3.0, 3.3])
    ears = face[EARS][np.argsort(face[EARS, 0])]
    depth = np.interp(oval[:, 0], ears[:, 0], ears[:, 2]) + 0.1 * np.ptp(face[:, 0])
    rings, follow = [], []
    for size in _RINGS:
        back = _smooth((size - 1) / 0.4)
        z = oval[:, 2] * (1 - back) + depth * back
        rings.append(np.column_stack([centre + outwards * size, z]))
        follow.append(1 - _smooth((size - full) / (none - full)))
    follow[-1] = np.zeros(len(OVAL))
    return np.concatenate(rings), np.concatenate(follow)


def _triangles() -> NDArray[np.int64]:
    """The face's triangles and those between the rings, clockwise on the screen."""
    rows = np.concatenate([OVAL[None], 478 + np.arange(len(_RINGS) * len(OVAL)).reshape(len(_RINGS), -1)])
    following = np.roll(rows, -1, axis=1)
    first = np.stack([rows[:-1], rows[1:], following[1:]], -1).reshape(-1, 3)
    second = np.stack([rows[:-1], following[1:], following[:-1]], -1).reshape(-1, 3)
    face = _load()["tri"].astype(np.int64)
    a, b, c = canonical_face()[face].transpose(1, 0, 2)[..., :2]
    clockwise = np.cross(np.c_[b - a, 0 * a[:, :1]], np.c_[c - a, 0 * a[:, :1]])[:, 2].sum() > 0
    return np.concatenate([face if clockwise else face[:, ::-1], first, second])


@dataclass(frozen=True, slots=True)
class _Anatomy:
    """Displacements (468, 3) in cm on the canonical face for an expression of 1."""

    jaw: Array
    smile: Array


_CORNERS_SINK = 0.2
"""Of what the middle of the lower lip does."""


@cache
def _anatomy() -> _Anatomy:
    face = canonical_face()
    width = face[291, 0] - face[61, 0]
    lip_line = face[[13, 14], 1].mean()

    below = _smooth((face[:, 1] - lip_line) / (face[17, 1] - lip_line))
    jaw = below * (1 - 0.55 * _smooth(np.abs(face[:, 0]) / np.abs(face[:, 0]).max()))
    # An opened mouth is round below, and its corners sink a little.
    aside = np.minimum(np.abs(face[:, 0] / face[291, 0]), 1)
    jaw[UPPER_LIP] = 0
    jaw[LOWER_LIP] = (_CORNERS_SINK + (1 - _CORNERS_SINK) * np.sqrt(1 - aside**1.5))[LOWER_LIP]
    jaw[MOUTH_CORNERS] = _CORNERS_SINK
    opening = jaw[:, None] * np.array([0, 0.5, 0.12]) * width

    smile = np.zeros((468, 3))
    for corner, side in ((61, -1), (291, 1)):
        near = np.exp(-(((face - face[corner]) / (0.55 * width)) ** 2).sum(1))
        smile += near[:, None] * np.array([side * 0.16, -0.12, 0.06]) * width
    return _Anatomy(jaw=opening, smile=smile)


@cache
def _load() -> dict[str, NDArray[np.generic]]:
    with files("mien.models").joinpath("bundled/canonical_face_mesh.npz").open("rb") as file, np.load(file) as arrays:
        return dict(arrays)


def canonical_face() -> Array:
    """(468, 3) of the canonical mesh in cm, y down and z away from the camera."""
    return _load()["xyz"].astype(np.float64) * [1, -1, -1]


def rotation(turn: Array) -> Array:
    """(3, 3) for yaw, pitch, roll in degrees: first pitch, then yaw, then roll, around the picture's axes.

    Signs as in `mien.faces.face.Pose`: yaw > 0 looks to the right of the picture, pitch > 0 down, roll > 0 clockwise.
    """
    yaw, pitch, roll = np.radians(turn)
    about_x = np.array([[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]])
    about_y = np.array([[np.cos(yaw), 0, -np.sin(yaw)], [0, 1, 0], [np.sin(yaw), 0, np.cos(yaw)]])
    about_z = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def angles(matrix: Array) -> Array:
    """(3,) yaw, pitch, roll in degrees of a rotation: the inverse of `rotation`."""
    x, y, z = matrix[2]
    return np.degrees([np.arcsin(np.clip(x, -1, 1)), np.arctan2(y, z), np.arctan2(matrix[1, 0], matrix[0, 0])])


def head_placement(landmarks: Array) -> tuple[Array, float]:
    """Rotation (3, 3) and scale (pixels per cm) that bring the canonical face nearest to landmarks (478, 3).

    A weighted similarity (Umeyama 1991) over the points that expressions move least.
    """
    steady, weights = _load()["procrustes_idx"], _load()["procrustes_w"].astype(np.float64)[:, None]
    a, b = canonical_face()[steady], landmarks[steady]
    a, b = a - (weights * a).sum(0) / weights.sum(), b - (weights * b).sum(0) / weights.sum()
    u, s, vt = np.linalg.svd((weights * b).T @ a)
    sign = np.array([1, 1, np.sign(np.linalg.det(u @ vt))])
    return u @ np.diag(sign) @ vt, float((s * sign).sum() / (weights * a**2).sum())


def _smooth(x: Array | float) -> Array:
    """Smooth step from 0 at 0 to 1 at 1."""
    x = np.clip(x, 0, 1)
    return x * x * (3 - 2 * x)
