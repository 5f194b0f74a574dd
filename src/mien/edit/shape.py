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

_UPPER_LIP, _LOWER_LIP = 13, 14
_JAW_SHARE = 0.6
"""How much of the opening between the lips the chin follows; the rest is the lips' own."""
_MOUTH_SCALE, _EYE_SCALE = (0.85, 1.2), (0.8, 1.25)
_ROUNDS = 6


@cache
def _jaw() -> Floats:
    """(468, 1) how much each vertex follows the jaw: 0 above the mouth, 1 at lower lip and chin."""
    height = mesh.XYZ[:, 1]
    mouth = float(mesh.XYZ[[_UPPER_LIP, _LOWER_LIP], 1].mean())
    chin = float(height.min())
    follows = np.clip((mouth - height) / (0.35 * (mouth - chin)), 0, 1)
    lower = _lower_lip()
    follows[lower] = np.maximum(follows[lower], 0.8)
    return follows[:, None].astype(np.float32)


@cache
def _lower_lip() -> Indices:
    inner, outer = mesh.LIPS_INNER, mesh.LIPS_OUTER
    return np.concatenate([inner[1:10], outer[1:10]])


@cache
def _rigid() -> Indices:
    """Vertices that the alignment of two faces goes by: all but lips and eyes."""
    moving = np.concatenate([mouth(), *eyes()])
    return np.setdiff1d(np.arange(mesh.VERTICES), moving)


@cache
def mouth() -> Indices:
    """Vertices of the lips and what is between them."""
    return _inside(mesh.LIPS_OUTER)


@cache
def eyes() -> tuple[Indices, Indices]:
    """Vertices of the lids with their folds: right, left."""
    return _inside(mesh.RIGHT_EYE, 1.25), _inside(mesh.LEFT_EYE, 1.25)


def _inside(ring: Indices, growth: float = 1.02) -> Indices:
    """Vertices inside the ring's ellipse-like outline, grown by a factor, on the canonical face."""
    flat = mesh.XYZ[:, :2]
    centre = flat[ring].mean(axis=0)
    angles = np.arctan2(*(flat[ring] - centre).T[::-1])
    order = np.argsort(angles)
    reach = np.linalg.norm(flat[ring] - centre, axis=1)[order]
    at = np.arctan2(*(flat - centre).T[::-1])
    allowed = np.interp(at, angles[order], reach, period=2 * np.pi) * growth
    return np.flatnonzero(np.linalg.norm(flat - centre, axis=1) <= allowed)


def mouth_opening(shape: Floats) -> float:
    """Distance between the inner lips, cm."""
    return float(np.linalg.norm(shape[_UPPER_LIP] - shape[_LOWER_LIP]))


def neutral(shape: Floats) -> Floats:
    """A guess at a person's neutral face from one picture: the jaw closed."""
    closed = shape.copy()
    closed[:, 1:2] += _JAW_SHARE * mouth_opening(shape) * _jaw()
    return closed


def carry(source: Floats, target: Floats, target_neutral: Floats | None, strength: float) -> Floats:
    """The target's face with the source's proportions.

    Expression is what sets the target apart from its own neutral face. The lips and each eye keep the target's form
    (their height over their width is the target's), moved and scaled as a block to where the source has them.

    Args:
        source: The source's neutral face.
        target: The target's face now.
        target_neutral: The target's own mean face, or None if it is not known.
        strength: 0 = the target's proportions, 1 = the source's.
    """
    base = neutral(target) if target_neutral is None else target_neutral
    placed = similarity(source[_rigid()], base[_rigid()]).apply(source)
    shift = placed - base
    known = np.zeros(mesh.VERTICES, bool)
    for block, limits in ((mouth(), _MOUTH_SCALE), (eyes()[0], _EYE_SCALE), (eyes()[1], _EYE_SCALE)):
        width, wanted = np.ptp(base[block, 0]), np.ptp(placed[block, 0])
        scale = np.clip(wanted / width, *limits)
        middle = target[block].mean(axis=0)
        shift[block] = shift[block].mean(axis=0) + (scale - 1) * (target[block] - middle)
        known[block] = True
    shift = _smoothed(shift, known)
    return (target + strength * shift).astype(np.float32)


def _smoothed(shift: Floats, known: np.ndarray) -> Floats:
    """Even out the shift next to the blocks, which stay as they are."""
    indices, weights = neighbours()
    near = known.copy()
    for _ in range(2):
        near = near | near[indices].any(axis=1)
    free = near & ~known
    smooth = shift.copy()
    for _ in range(_ROUNDS):
        mean = (smooth[indices[free]] * weights[free]).sum(axis=1)
        smooth[free] = 0.5 * smooth[free] + 0.5 * mean
    return smooth
