"""The geometric swapper: the source's texture on the target's mesh, in the target's light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit import light, mask, shape, warp
from mien.edit.canvas import Canvas, Drawn, draw, hull
from mien.edit.fields import gaussian, look_up, smoothstep
from mien.edit.grain import GrainMatch
from mien.edit.occlusion import FaceCover
from mien.edit.raster import Floats
from mien.edit.regions import features
from mien.edit.source import SourceFace
from mien.edit.texture import visibility
from mien.edit.topology import FIELD, add_skirt, to_grid
from mien.faces.align import from_canonical, head_placement, to_canonical
from mien.faces.face import TrackedFace
from mien.faces.mesh import VERTICES
from mien.geometry import Rect

_STRETCH = (0.4, 0.7)
"""How squarely the source shows a texel over how squarely the target does: below the first its detail would be
stretched and plain skin is drawn instead, above the second all of it is drawn."""
_LEAST_FACING = 0.12
"""Facing under which the target's outline counts as seen no less squarely."""
_ACROSS = 0.85
"""Part of the texture plane's width that a face takes up."""


class GeometricSwap:
    """Effect that puts one person's face onto tracked faces. One thread calls `edit` at a time."""

    name = "swap"

    def __init__(self, source: SourceFace, *, shape: float = 1.0) -> None:
        """Set up for one source.

        Args:
            source: Whose face appears.
            shape: How much of the source's proportions is carried, 0..1.
        """
        self._source = source
        self._shape = shape
        self._static = np.stack([source.facing, features(FIELD)], axis=-1)
        self._tracks: dict[int, _Track] = {}

    def rect(self, face: TrackedFace, width: int, height: int) -> Rect:
        """The part of a frame of `width` x `height` pixels that the edit may change."""
        return warp.rectangle(face.face.landmarks[:VERTICES], width, height)

    def edit(
        self, patch: NDArray[np.float32], rect: Rect, face: TrackedFace, others: Sequence[TrackedFace] = ()
    ) -> NDArray[np.float32]:
        """The patch with the source's face, a new array; equal to `patch` where nothing changes.

        Args:
            patch: (height, width, 3) working RGB of `rect`.
            rect: Where the patch lies in the frame, `rect(...)` or somewhat larger.
            face: Whom to replace.
            others: Other faces in the frame; larger ones are taken to be nearer and stay in front.
        """
        if face.fresh or face.track not in self._tracks:
            self._tracks[face.track] = _Track(FaceCover(), GrainMatch())
        track = self._tracks[face.track]
        origin = np.float32([rect.x + 0.5, rect.y + 0.5, 0])
        target = face.face.landmarks[:VERTICES] - origin
        result = self._reshaped(face) - origin
        face_width = _width(result)
        canvas = Canvas.over(*patch.shape[:2], face_width)
        drawn = draw(canvas, result)
        edited = warp.move(canvas, patch, *warp.displacement(canvas, drawn, target, result))

        cover = track.cover.update(_unrolled(canvas, patch, target), visibility(target, patch.shape[:2]))
        look = self._look(canvas, drawn, canvas.shrink(edited), cover, face_width)
        part = _window(result, *patch.shape[:2])
        opacity = (canvas.enlarge(look.alpha)[part] * mask.outline(canvas, result, face_width)[part]).copy()
        corner = np.float32([part[1].start, part[0].start, 0])
        mask.cut_holes(opacity, result - corner, face_width)
        mask.hide_behind(opacity, face_width, [points - origin - corner for points in _nearer(face, others)])
        painted = self._painted(canvas, drawn, look, part, face_width)
        unknown = 1 - canvas.enlarge(look.known)[part]
        plain, parts = canvas.enlarge(look.skin)[part] * opacity, canvas.enlarge(look.parts)[part]
        track.grain.apply(painted, edited[part], plain, parts, unknown)
        view = edited[part]
        share = cv2.merge([opacity, opacity, opacity])
        view += share * (painted - view)
        return edited

    def _reshaped(self, face: TrackedFace) -> Floats:
        """(468, 3) where the face's points are to be, in pixels of the frame."""
        placement = head_placement(face.face.landmarks)
        canonical = to_canonical(face.face.landmarks, placement)
        strength = self._shape * face.fade
        return from_canonical(shape.carry(self._source.shape, canonical, face.neutral, strength), placement)

    def _look(self, canvas: Canvas, drawn: Drawn, target: Floats, cover: Floats, face_width: float) -> _Look:
        """Everything that is smooth: on the canvas's grid."""
        step = (canvas.step_x + canvas.step_y) / 2
        facing, parts = cv2.split(drawn.look_up(self._static))
        known = smoothstep(*_STRETCH, cast(Floats, facing) / np.maximum(drawn.facing, _LEAST_FACING))
        clear = 1 - drawn.look_up(cover)
        skin = drawn.look_up(self._source.skin)
        texture = skin + known[..., None] * (drawn.look_up(self._level(face_width / step)) - skin)
        plain = drawn.covered * (1 - parts) * clear
        gain = light.gain(target, texture, plain * (0.2 + 0.8 * known), clear * drawn.covered, face_width / step)
        edge = smoothstep(0.3, 0.7, gaussian(drawn.covered, 1.0))
        return _Look(skin, known, gain, clear * edge, plain * known, cast(Floats, parts) * clear * known)

    def _painted(
        self, canvas: Canvas, drawn: Drawn, look: _Look, part: tuple[slice, slice], face_width: float
    ) -> Floats:
        """The source's face in the target's light, in full resolution."""
        level = self._level(face_width)
        side = np.float32(level.shape[0])
        u, v = (canvas.enlarge(field * side - np.float32(0.5))[part] for field in (drawn.u, drawn.v))
        texture = look_up(level, u, v)
        skin, known = canvas.enlarge(look.skin_colour)[part], canvas.enlarge(look.known)[part]
        texture = skin + cv2.merge([known, known, known]) * (texture - skin)
        return cast(Floats, texture * canvas.enlarge(look.gain)[part])

    def _level(self, across: float) -> Floats:
        """The texture with at least about as many texels across the face as there are pixels."""
        levels = self._source.textures
        halvings = np.log2(max(levels[0].shape[0] * _ACROSS / across, 1)) + 0.35
        return levels[min(int(halvings), len(levels) - 1)]


class _Track(NamedTuple):
    """What is remembered of one tracked face."""

    cover: FaceCover
    grain: GrainMatch


class _Look(NamedTuple):
    """Smooth fields of one edit, (rows, columns[, 3])."""

    skin_colour: Floats
    known: Floats
    gain: Floats
    alpha: Floats
    skin: Floats
    parts: Floats


def _unrolled(canvas: Canvas, patch: Floats, target: Floats) -> Floats:
    """(FIELD, FIELD, 3) the target on the texture plane."""
    positions = canvas.to_grid(to_grid(add_skirt(target[:, :2]), FIELD, outside=-1e4).reshape(-1, 2))
    x, y = (np.ascontiguousarray(positions[:, axis]).reshape(FIELD, FIELD) for axis in (0, 1))
    return look_up(canvas.shrink(patch), x, y)


def _width(points: Floats) -> float:
    """Width of a face in its own frame, also in profile, in pixels."""
    return float(np.linalg.norm(points[454] - points[234]))


def _window(points: Floats, height: int, width: int) -> tuple[slice, slice]:
    """Rows and columns of the patch around the outline of a face."""
    corners, _ = hull(points)
    low = np.clip(np.floor(corners.min(axis=0)).astype(int) - 2, 0, (width - 1, height - 1))
    high = np.clip(np.ceil(corners.max(axis=0)).astype(int) + 3, low + 1, (width, height))
    return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))


def _nearer(face: TrackedFace, others: Sequence[TrackedFace]) -> list[Floats]:
    """Landmarks of the other faces that are larger, and so nearer to the camera."""
    size = _width(face.face.landmarks)
    return [other.face.landmarks[:VERTICES] for other in others if _width(other.face.landmarks) > size]
