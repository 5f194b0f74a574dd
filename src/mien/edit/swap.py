"""The geometric swapper: the source's texture on the target's mesh, in the target's light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.edit import light, mask, shape, topology, warp
from mien.edit.canvas import Canvas, Drawn, Window, draw
from mien.edit.fields import as_rgb, as_rgba, gaussian, look_up, smoothstep
from mien.edit.grain import Drawing, Fields, GrainMatch
from mien.edit.occlusion import FaceCover
from mien.edit.raster import Floats
from mien.edit.regions import features
from mien.edit.source import SourceFace
from mien.edit.topology import FIELD, add_skirt, to_grid
from mien.faces.align import from_canonical, head_placement, to_canonical
from mien.faces.face import TrackedFace
from mien.faces.mesh import VERTICES
from mien.geometry import Rect
from mien.native import face as kernels

_STRETCH = (0.4, 0.7)
"""How squarely the source shows a texel over how squarely the target does: below the first its detail would be
stretched and plain skin is drawn instead, above the second all of it is drawn."""
_LEAST_FACING = 0.12
"""Facing under which the target's outline counts as seen no less squarely."""
_ACROSS = 0.85
"""Part of the texture plane's width that a face takes up."""
_COARSER = 0.5
"""Halvings of the texture beyond those that leave just as many texels as pixels, rounded down: 0.71 to 1.41 remain."""
_TRACKS = 32
"""Tracks remembered at most, 0.3 MB each."""


class GeometricSwap:
    """Effect that puts one person's face onto tracked faces. One thread calls `edit` at a time."""

    name = "swap"
    remembers = True

    def __init__(self, source: SourceFace, *, shape: float = 1.0) -> None:
        """Set up for one source.

        Args:
            source: Whose face appears.
            shape: How much of the source's proportions is carried, 0..1.
        """
        self._source = source
        self._shape = shape
        self._levels = [as_rgba(level) for level in source.textures]
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
        track = self._remember(face)
        if face.fade <= 0 or min(patch.shape[:2]) < 2:
            return patch.copy()
        origin = np.array([rect.x + 0.5, rect.y + 0.5, 0], np.float32)
        target = face.face.landmarks[:VERTICES] - origin
        result = self._reshaped(face, track) - origin
        canvas = Canvas.over(patch.shape[0], patch.shape[1], _width(result))
        facing = topology.facing(add_skirt(target))
        window = canvas.window(result)
        back = target[:, :2] - result[:, :2]
        drawn = draw(canvas, window, result, facing, back)
        shift = warp.displacement(canvas, window, drawn, target, result, back)
        moved = warp.move(canvas, patch, *shift, window)

        small = canvas.shrink(patch, canvas.window(np.concatenate([result, add_skirt(target)])))
        cover = track.cover.update(*_unrolled(canvas, small, target, facing))
        background = np.ascontiguousarray(warp.move_small(canvas, small, *shift)[window.cells])
        look = self._look(drawn, background, cover, _width(result) / canvas.step)
        nearer = [points - origin for points in _nearer(face, others)]
        look = look._replace(opacity=look.opacity * np.float32(face.fade))
        self._paint(moved, canvas, window, look, result, nearer, track.grain)
        return moved.picture

    def _remember(self, face: TrackedFace) -> _Track:
        """What is known of the face's track; the tracks used last are kept."""
        track = self._tracks.pop(face.track, None)
        if track is None or face.fresh:
            track = _Track(shape.RunningNeutral(), FaceCover(), GrainMatch())
        self._tracks[face.track] = track
        while len(self._tracks) > _TRACKS:
            del self._tracks[next(iter(self._tracks))]
        return track

    def _reshaped(self, face: TrackedFace, track: _Track) -> Floats:
        """(468, 3) where the face's points are to be, in pixels of the frame."""
        placement = head_placement(face.face.landmarks)
        canonical = to_canonical(face.face.landmarks, placement)
        neutral = track.neutral.update(canonical) if face.neutral is None else face.neutral
        strength = self._shape * face.fade
        return from_canonical(shape.carry(self._source.shape, canonical, neutral, strength), placement)

    def _look(self, drawn: Drawn, target: Floats, cover: Floats, face_width: float) -> _Look:
        """Everything that is smooth, on the cells of a window; `face_width` is in cells."""
        facing, parts = (cast(Floats, one) for one in cv2.split(drawn.look_up(self._static)))
        known = smoothstep(*_STRETCH, facing / np.maximum(drawn.facing, _LEAST_FACING))
        clear = 1 - drawn.look_up(cover)
        skin = drawn.look_up(self._source.skin)
        share = cast(Floats, cv2.merge([known, known, known]))
        texture = skin + share * (as_rgb(drawn.look_up(self._level(face_width))) - skin)
        plain = drawn.covered * (1 - parts) * clear
        gain = light.gain(target, texture, plain * (0.2 + 0.8 * known), clear * drawn.covered, face_width)
        edge = smoothstep(0.3, 0.7, gaussian(drawn.covered, 1.0))
        return _Look(
            drawn,
            opacity=clear * edge,
            plain=plain * known,
            parts=parts * clear * known,
            unknown=1 - known,
            base=as_rgba(gain * skin * (1 - share)),
            factor=as_rgba(gain * share),
            grey=light.is_grey(target),
        )

    def _paint(
        self,
        moved: warp.Moved,
        canvas: Canvas,
        window: Window,
        look: _Look,
        result: Floats,
        nearer: Sequence[Floats],
        grain: GrainMatch,
    ) -> None:
        """Draw the source's face into what was moved, in place."""
        face_width, corner = _width(result), np.append(window.corner, np.float32(0))
        outline, fineness = mask.outline(*window.size, result - corner, face_width)
        opacity = kernels.enlarge_product(look.opacity, canvas.step, outline, fineness, window.size)
        mask.cut_holes(opacity, result - corner, face_width)
        mask.hide_behind(opacity, face_width, [points - corner for points in nearer])

        level = self._level(face_width)
        drawn, grey = kernels.draw(level, look.drawn.u, look.drawn.v, look.factor, look.base, canvas.step, window.size)
        if look.grey:
            drawn = as_rgba(grey)
        view = moved.picture[window.pixels]
        if grain.due:
            plain, parts = (canvas.enlarge(field, window) for field in (look.plain, look.parts))
            grain.measure(drawn, view, plain * opacity, parts, face_width)
        fields = Fields(canvas.step, look.unknown, look.parts)
        grain.lay_over(view, Drawing(drawn, grey, opacity), moved.detail_of(window), fields, face_width)

    def _level(self, across: float) -> Floats:
        """The texture (side, side, 4) with hardly more texels than pixels across the face: more would flicker."""
        levels = self._levels
        halvings = np.log2(max(levels[0].shape[0] * _ACROSS / across, 1)) + _COARSER
        return levels[min(int(halvings), len(levels) - 1)]


class _Track(NamedTuple):
    """What is remembered of one tracked face."""

    neutral: shape.RunningNeutral
    cover: FaceCover
    grain: GrainMatch


class _Look(NamedTuple):
    """Smooth fields of one edit, on the cells of a window."""

    drawn: Drawn
    opacity: Floats
    """(rows, columns) how much of the source is seen."""
    plain: Floats
    """(rows, columns) plain skin of both."""
    parts: Floats
    """(rows, columns) eyes, brows and mouth of both."""
    unknown: Floats
    """(rows, columns) where the source is not known."""
    base: Floats
    """(rows, columns, 4) what is added to"""
    factor: Floats
    """(rows, columns, 4) times the source's texture."""
    grey: bool
    """The target has no colour, and neither has the result."""


def _unrolled(canvas: Canvas, small: Floats, target: Floats, facing: Floats) -> tuple[Floats, Floats]:
    """The target on the texture plane (FIELD, FIELD, 3), and how squarely it is seen there (FIELD, FIELD), 0..1."""
    points = np.concatenate([canvas.to_grid(add_skirt(target[:, :2])), facing[:, None]], axis=1)
    x, y, towards = (cast(Floats, one) for one in cv2.split(to_grid(points.astype(np.float32), FIELD, outside=-1e4)))
    inside = (x > -0.5) & (y > -0.5) & (x < canvas.columns - 0.5) & (y < canvas.rows - 0.5)
    return look_up(small, x, y), np.clip(towards, 0, 1) * inside


def _width(points: Floats) -> float:
    """Width of a face in its own frame, also in profile, in pixels."""
    return float(np.linalg.norm(points[454] - points[234]))


def _nearer(face: TrackedFace, others: Sequence[TrackedFace]) -> list[Floats]:
    """Landmarks of the other faces that are larger, and so nearer to the camera."""
    size = _width(face.face.landmarks)
    return [other.face.landmarks[:VERTICES] for other in others if _width(other.face.landmarks) > size]
