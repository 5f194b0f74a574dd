"""Whose proportions, whose expression: the source's neutral face with the target's expression and pose.

All shapes here are (468, 3) in the canonical mesh's axes (cm, y up), freed of pose and size.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from mien.edit.raster import Floats, Indices
from mien.edit.topology import neighbours
from mien.faces import mesh
from mien.faces.align import similarity

_ANCHORS = mesh.PROCRUSTES_VERTICES
_UPPER_LIP, _LOWER_LIP = 13, 14
_LIDS = ((mesh.RIGHT_EYE, 33, 133, 159, 145), (mesh.LEFT_EYE, 263, 362, 386, 374))
"""Of each eye: lid ring, outer and inner corner, middle of the upper and of the lower lid."""
_JAW_SHARE, _JAW_FREE = 0.8, 0.8
"""The chin follows the opening between the lips by this share, beyond this opening (cm) that lips alone can make."""
_MOUTH_SCALE = (0.7, 1.45)
_LID_SCALE = (0.1, 2.5)
_ROUNDS = 6
_LEARN = 0.02
"""Least share of a new frame in a running neutral face."""


@cache
def _jaw() -> Floats:
    """(468, 1) how much each vertex follows the jaw: 0 above the mouth, 1 at lower lip and chin."""
    height = mesh.XYZ[:, 1]
    lips = float(mesh.XYZ[[_UPPER_LIP, _LOWER_LIP], 1].mean())
    chin = float(height.min())
    follows = np.clip((lips - height) / (0.35 * (lips - chin)), 0, 1)
    lower = np.concatenate([mesh.LIPS_INNER[1:10], mesh.LIPS_OUTER[1:10]])
    follows[lower] = np.maximum(follows[lower], 0.8)
    return follows[:, None].astype(np.float32)


@cache
def _eye_blocks() -> tuple[tuple[Indices, Floats], ...]:
    """Vertices around each eye and how much they follow its lids: 1 at the lids, 0 at the brow and the cheek."""
    blocks: list[tuple[Indices, Floats]] = []
    for ring, *_ in _LIDS:
        near, far = _inside(ring, 1.15), _inside(ring, 1.8)
        follows = np.where(np.isin(far, near), 1.0, 0.4).astype(np.float32)
        blocks.append((far, follows[:, None]))
    return tuple(blocks)


def _inside(ring: Indices, growth: float) -> Indices:
    """Vertices inside a ring's outline on the canonical face, grown by a factor."""
    flat = mesh.XYZ[:, :2]
    centre = flat[ring].mean(axis=0)
    from_centre = flat - centre
    angles = np.arctan2(from_centre[:, 1], from_centre[:, 0])
    reach = np.linalg.norm(from_centre, axis=1)
    order = np.argsort(angles[ring])
    allowed = np.interp(angles, angles[ring][order], reach[ring][order], period=2 * np.pi) * growth
    allowed[ring] = np.maximum(allowed[ring], reach[ring])
    return np.flatnonzero(reach <= allowed)


def neutral(shape: Floats) -> Floats:
    """A guess at a person's neutral face from one picture: the jaw closed as far as it surely is open."""
    opening = float(np.linalg.norm(shape[_UPPER_LIP] - shape[_LOWER_LIP]))
    closed = shape.copy()
    closed[:, 1:2] += _JAW_SHARE * max(opening - _JAW_FREE, 0) * _jaw()
    return closed


class RunningNeutral:
    """A person's neutral face, learnt while their track goes on."""

    def __init__(self) -> None:
        self._seen = 0
        self._mean = np.zeros((mesh.VERTICES, 3), np.float32)

    def update(self, shape: Floats) -> Floats:
        """Take in the face of a frame; the neutral face as known by now."""
        self._seen += 1
        self._mean += (neutral(shape) - self._mean) * np.float32(max(1 / self._seen, _LEARN))
        return self._mean


def carry(source: Floats, target: Floats, target_neutral: Floats, strength: float) -> Floats:
    """The target's face with the source's proportions.

    Expression is what sets the target apart from its own neutral face. Eyes are as wide as the source's and as open,
    for their width, as the target's; the mouth has the source's width and fullness and the form of the target's.

    Args:
        source: The source's neutral face.
        target: The target's face now.
        target_neutral: The target's own neutral face.
        strength: 0 = the target's proportions, 1 = the source's.
    """
    base = target_neutral
    placed = similarity(source[_ANCHORS], base[_ANCHORS], mesh.PROCRUSTES_WEIGHTS).apply(source)
    result = placed + (target - base)
    for number in range(len(_LIDS)):
        _open_eye(result, placed, target, number)
    _form_mouth(result, placed, target, base)
    return (target + strength * (result - target)).astype(np.float32)


def _open_eye(result: Floats, placed: Floats, target: Floats, number: int) -> None:
    """Give an eye of `result` the source's form, scaled in height so that its height over width is the target's."""
    _, outer, inner, _, _ = _LIDS[number]
    block, follows = _eye_blocks()[number]
    scale = float(np.clip(_openness(target, number) / _openness(placed, number), *_LID_SCALE))
    axis = placed[inner] - placed[outer]
    axis /= np.linalg.norm(axis)
    middle = (placed[outer] + placed[inner]) / 2
    offsets = placed[block] - middle
    along = (offsets @ axis)[:, None] * axis
    # The lids' own shift (where the target's corners moved to) stays; only their height is the target's.
    moved = (result[outer] + result[inner]) / 2 - middle
    lids = middle + moved + along + (offsets - along) * scale
    result[block] = follows * lids + (1 - follows) * result[block]


def _openness(shape: Floats, number: int) -> float:
    """Height over width of an eye."""
    _, outer, inner, upper, lower = _LIDS[number]
    height = np.linalg.norm(shape[upper] - shape[lower])
    return float(max(height, 1e-3) / np.linalg.norm(shape[outer] - shape[inner]))


def _form_mouth(result: Floats, placed: Floats, target: Floats, base: Floats) -> None:
    """Give the mouth of `result` the target's inner outline at the source's width, and the source's fullness.

    The neutral mouth is scaled; how it moves is the target's own, so that it moves no more than before.
    """
    inner, outer = mesh.LIPS_INNER, mesh.LIPS_OUTER
    scale = float(np.clip(_width(placed) / _width(base), *_MOUTH_SCALE))
    resting = base[inner]
    result[inner] = (
        target[inner] + (placed[inner] - resting).mean(axis=0) + (scale - 1) * (resting - resting.mean(axis=0))
    )
    result[outer] = result[inner] + (placed[outer] - placed[inner])
    _settle(result, placed, np.concatenate([inner, outer]))


def _width(shape: Floats) -> float:
    return float(np.linalg.norm(shape[61] - shape[291]))


def _settle(result: Floats, placed: Floats, fixed: Indices) -> None:
    """Let the vertices between and around the lips' rings follow them smoothly."""
    free, smoothing = _settling(tuple(fixed.tolist()))
    result[free] = placed[free] + smoothing @ (result - placed)


@cache
def _settling(fixed: tuple[int, ...]) -> tuple[Indices, Floats]:
    """The vertices that are free to follow, and (free, 468) how they do: as their neighbours' mean, repeatedly."""
    indices, weights = neighbours()
    free = _mouth_surroundings(fixed)
    step = np.eye(mesh.VERTICES, dtype=np.float32)
    step[free] = 0
    np.add.at(step, (free[:, None], indices[free]), weights[free, :, 0])
    return free, np.linalg.matrix_power(step, _ROUNDS)[free]


def _mouth_surroundings(fixed: tuple[int, ...]) -> Indices:
    indices, _ = neighbours()
    near = np.zeros(mesh.VERTICES, bool)
    near[list(fixed)] = True
    near[_inside(mesh.LIPS_OUTER, 1.02)] = True
    for _ in range(2):
        near |= near[indices].any(axis=1)
    near[list(fixed)] = False
    return np.flatnonzero(near)
