"""LivePortrait: the target's expression brought back onto a swapped face.

Three networks: one sees the face's look, one its motion (pose, expression, key points), one draws the look in another
motion. All take crops of 256 pixels, RGB in 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.errors import UsageError
from mien.models.families.family import Family, Floats, Rule
from mien.models.families.pixels import from_planes, to_planes, unit
from mien.models.families.templates import ARCFACE_128

_VIEW = 256
POINTS = 21
"""Key points of the face."""
FIXED = (0, 4, 5, 8, 9)
"""Key points that belong to head and shoulders: never moved."""
UPPER_FACE = (1, 2, 6, 10, 11, 12, 13, 15, 16)
LOWER_FACE = (3, 7, 14, 17, 18, 19, 20)
AREAS = {"upper-face": UPPER_FACE, "lower-face": LOWER_FACE}
"""Key points that carry the expression of each area."""
FULL = 1.2
"""Share of the target's expression at strength 1: a little more than all of it, as drawing flattens it."""


@dataclass(frozen=True, slots=True)
class Redrawing:
    """Key points (n, 21, 3) in crops, as they are and as they are to be drawn."""

    own: Floats
    wanted: Floats


@dataclass(frozen=True, slots=True)
class Motion:
    """What the motion network sees, of n faces."""

    rotation: Floats
    """(n, 3, 3)"""
    scale: Floats
    """(n, 1, 1)"""
    translation: Floats
    """(n, 1, 3)"""
    expression: Floats
    """(n, 21, 3) shifts of the key points."""
    points: Floats
    """(n, 21, 3) key points of the face at rest."""

    def placed(self, expression: Floats) -> Floats:
        """(n, 21, 3) key points in the crop, with another expression."""
        turned: Floats = self.points @ self.rotation.transpose(0, 2, 1)
        return (self.scale * (turned + expression) + self.translation).astype(np.float32, copy=False)


class FeatureExtractor(Family):
    """live_portrait_feature_extractor."""

    name = "live_portrait_feature_extractor"
    role = "expression"
    inputs = (Rule("input", (None, 3, _VIEW, _VIEW)),)
    outputs = (Rule(None, (None, None, None, None, None)),)

    def look(self, views: Floats) -> Floats:
        """Features (n, c, d, h, w) of views (n, 3, 256, 256)."""
        return self._run({"input": views})[0]


class MotionExtractor(Family):
    """live_portrait_motion_extractor: pitch, yaw, roll, scale, translation, expression, key points."""

    name = "live_portrait_motion_extractor"
    role = "expression_motion"
    inputs = (Rule("input", (None, 3, _VIEW, _VIEW)),)
    outputs = (Rule(None, None),) * 7

    def motion(self, views: Floats) -> Motion:
        """Motion of the faces in views (n, 3, 256, 256)."""
        count = len(views)
        pitch, yaw, roll, scale, translation, expression, points = self._run({"input": views})[:7]
        return Motion(
            rotation(pitch.reshape(count), yaw.reshape(count), roll.reshape(count)),
            scale.reshape(count, 1, 1),
            translation.reshape(count, 1, 3),
            expression.reshape(count, POINTS, 3),
            points.reshape(count, POINTS, 3),
        )


class Generator(Family):
    """live_portrait_generator: `source` are the key points to draw, `target` those of the look."""

    name = "live_portrait_generator"
    role = "expression_generator"
    inputs = (
        Rule("feature_volume", (None, None, None, None, None)),
        Rule("source", (None, POINTS, 3)),
        Rule("target", (None, POINTS, 3)),
    )
    outputs = (Rule(None, (None, 3, None, None)),)

    def draw(self, look: Floats, wanted: Floats, own: Floats) -> Floats:
        """Faces (n, side, side, 3) RGB 0..1 with the key points `wanted` instead of their `own`, each (n, 21, 3)."""
        return from_planes(self._run({"feature_volume": look, "source": wanted, "target": own})[0])


class LivePortrait:
    """The three networks together."""

    template = ARCFACE_128
    size = 512
    """Side of the crops, pixels."""

    def __init__(self, features: FeatureExtractor, motion: MotionExtractor, generator: Generator) -> None:
        self._features = features
        self._motion = motion
        self._generator = generator

    def restore(
        self,
        crops: NDArray[Any],
        originals: NDArray[Any],
        *,
        strength: float = 0.8,
        areas: tuple[str, ...] = tuple(AREAS),
    ) -> Floats:
        """Edited faces with the expression that they had before the edit, RGB float32 in 0..1.

        The three networks one after the other; see `motions` for what may be wrong.
        """
        if not len(crops):
            return np.empty(crops.shape, np.float32)
        motions = self.motions(crops, originals, strength=strength, areas=areas)
        return self.draw(self.look(crops), motions)

    def motions(
        self,
        crops: NDArray[Any],
        originals: NDArray[Any],
        *,
        strength: float = 0.8,
        areas: tuple[str, ...] = tuple(AREAS),
    ) -> Redrawing:
        """Where the faces' key points are, and where the expression that they had before the edit has them.

        Args:
            crops: (n, 512, 512, 3) of the edited faces, aligned on `template`.
            originals: The same places of the picture before the edit.
            strength: 0..1.
            areas: Of `AREAS`: where the expression is brought back.

        Raises:
            UsageError: crops of another size, or an area of another name.
            EngineError: an engine failed.
        """
        if crops.shape != originals.shape or crops.shape[1:] != (self.size, self.size, 3):
            raise UsageError(f"crops are to be (n, {self.size}, {self.size}, 3), got {crops.shape}, {originals.shape}")
        if unknown := set(areas) - set(AREAS):
            raise UsageError(f"there is no area '{unknown.pop()}' with an expression: it is one of {', '.join(AREAS)}")
        own = self._motion.motion(_views(crops))
        wanted = own.expression.copy()
        moved = [point for area in areas for point in AREAS[area]]
        target = self._motion.motion(_views(originals)).expression
        wanted[:, moved] += (target - own.expression)[:, moved] * np.float32(FULL * strength)
        return Redrawing(own.placed(own.expression), own.placed(wanted))

    def look(self, crops: NDArray[Any]) -> Floats:
        """What the faces of crops (n, 512, 512, 3) look like."""
        return self._features.look(_views(crops))

    def draw(self, look: Floats, motions: Redrawing) -> Floats:
        """Faces (n, 512, 512, 3), RGB float32 in 0..1, of that look with the wanted key points."""
        return self._generator.draw(look, motions.wanted, motions.own)


def rotation(pitch: NDArray[Any], yaw: NDArray[Any], roll: NDArray[Any]) -> Floats:
    """(n, 3, 3) turns by pitch about x, then yaw about y, then roll about z; each (n,) degrees."""
    x, y, z = (np.radians(angle.astype(np.float64)) for angle in (pitch, yaw, roll))
    return (_turn(z, 0, 1) @ _turn(y, 2, 0) @ _turn(x, 1, 2)).astype(np.float32)


def _turn(angle: NDArray[np.float64], first: int, second: int) -> NDArray[np.float64]:
    """(n, 3, 3) turns that bring axis `first` towards axis `second`."""
    turn = np.zeros((len(angle), 3, 3))
    turn[:] = np.eye(3)
    turn[:, first, first] = turn[:, second, second] = np.cos(angle)
    turn[:, second, first] = np.sin(angle)
    turn[:, first, second] = -np.sin(angle)
    return turn


def _views(crops: NDArray[Any]) -> Floats:
    small = [cast(NDArray[Any], cv2.resize(crop, (_VIEW, _VIEW), interpolation=cv2.INTER_AREA)) for crop in crops]
    return to_planes(unit(np.stack(small)))
