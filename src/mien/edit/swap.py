"""The geometric swapper: the source's texture on the target's mesh, in the target's light."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from mien.edit import glasses, light, mask, shape, warp
from mien.edit.canvas import Canvas, Drawn, draw
from mien.edit.fields import smoothstep
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
"""How squarely the source shows a texel over how squarely the target does: below the first the texel counts as
unknown, above the second as known. What is drawn between would be stretched."""
FILLED = 1.0
"""How much of the smooth skin colour that fills the unknown parts of a source is seen; the rest is the target's."""
KEEP=True

class GeometricSwap:
    """Effect that puts one person's face onto tracked faces. One thread calls `edit` at a time."""

    name = "swap"

    def __init__(self, source: SourceFace, analyser: object = None, *, shape: float = 1.0) -> None:
        """Set up for one source.

        Args:
            source: whose face appears.
            analyser: tells people from background.
            shape: how much of the source's proportions is carried, 0..1.
        """
        self._source = source
        self._shape = shape
        self._static = np.stack([source.facing, features(FIELD)], axis=-1)
        self._tracks: dict[int, _Track] = {}

    def rect(self, face: TrackedFace, width: int, height: int) -> Rect:
        """The part of a frame of `width` x `height` pixels that the edit may change."""
        return warp.rectangle(face.face.landmarks[:VERTICES], width, height)

    def edit(self, patch: Floats, rect: Rect, face: TrackedFace, others: Sequence[TrackedFace] = ()) -> Floats:
        """The patch with the source's face; equal to `patch` where nothing changes.

        Args:
            patch: (height, width, 3) working RGB of `rect`.
            rect: where the patch lies in the frame, `rect(...)` or somewhat larger.
            face: whom to replace.
            others: other faces in the frame.
        """
        if face.fresh or face.track not in self._tracks:
            self._tracks[face.track] = _Track()
        track = self._tracks[face.track]
        landmarks = face.face.landmarks
        placement = head_placement(landmarks)
        canonical = to_canonical(landmarks, placement)
        strength = self._shape * face.fade
        wanted = from_canonical(shape.carry(self._source.shape, canonical, face.neutral, strength), placement)
        origin = np.float32([rect.x + 0.5, rect.y + 0.5, 0])
        target, result = landmarks[:VERTICES] - origin, wanted - origin
        height, width = patch.shape[:2]
        face_width = float(np.linalg.norm(result[454] - result[234]))
        canvas = Canvas.over(height, width, face_width)
        drawn = draw(canvas, result)
        cover = track.cover(patch, target)

        moved = warp.displacement(canvas, target, result, self._inside(drawn, target, result))
        surroundings = _moved(canvas, patch, moved)
        small = canvas.shrink(surroundings)

        step = float(canvas.step.mean())
        known = cv2.remap(self._static, *_at(drawn.plane, FIELD), cv2.INTER_LINEAR)
        hidden = cv2.remap(cover, *_at(drawn.plane, glasses.SIDE), cv2.INTER_LINEAR)
        covered = drawn.covered.astype(np.float32)
        sure = smoothstep(*_STRETCH, known[..., 0] / np.maximum(drawn.facing, 0.12))
        soft = smoothstep(0.3, 0.7, cv2.GaussianBlur(covered, (0, 0), 1.0))
        alpha = soft * face.fade
        texture = self._drawn(drawn.plane, face_width / step)
        skin = cv2.remap(self._source.skin, *_at(drawn.plane, FIELD), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        texture = skin + sure[..., None] * (texture - skin)
        trust = covered * (1 - known[..., 1]) * (0.2 + 0.8 * sure) * (1 - hidden)
        gain = light.gain(small, texture, trust, alpha * covered * (1 - hidden), face_width / step)

        return self._blend(canvas, surroundings, drawn, skin, sure, gain, alpha, cover, result, face_width)

    def _inside(self, drawn: Drawn, target: Floats, result: Floats) -> Floats:
        shift = to_grid(add_skirt(target[:, :2]) - add_skirt(result[:, :2]), FIELD)
        inside = cv2.remap(shift, *_at(drawn.plane, FIELD), cv2.INTER_LINEAR)
        return np.concatenate([inside, drawn.covered[..., None].astype(np.float32)], axis=-1)

    def _level(self, face_width: float) -> Floats:
        """The texture with about as many texels across the face as it gets pixels."""
        levels = self._source.textures
        return levels[min(max(int(np.log2(max(levels[0].shape[0] * 0.85 / face_width, 1)) + 0.35), 0), len(levels) - 1)]

    def _drawn(self, plane: Floats, face_width: float) -> Floats:
        level = self._level(face_width)
        return cv2.remap(level, *_at(plane, level.shape[0]), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    def _blend(
        self,
        canvas: Canvas,
        surroundings: Floats,
        drawn: Drawn,
        skin: Floats,
        sure: Floats,
        gain: Floats,
        alpha: Floats,
        cover: Floats,
        result: Floats,
        face_width: float,
    ) -> Floats:
        level = self._level(face_width)
        plane = canvas.enlarge(drawn.plane)
        u, v = _at(plane, level.shape[0])
        texture = cv2.remap(level, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        skin = canvas.enlarge(skin)
        known = canvas.enlarge(sure)
        texture = skin + cv2.merge([known, known, known]) * (texture - skin)
        texture = cv2.multiply(texture, canvas.enlarge(gain))
        opacity = canvas.enlarge(alpha) * mask.outline(canvas, result, face_width)
        opacity *= 1 - mask.holes(canvas, result, face_width)
        opacity *= 1 - cv2.remap(cover, *_at(plane, cover.shape[0]), cv2.INTER_LINEAR)
        share = cv2.merge([opacity, opacity, opacity])
        return surroundings + share * (texture - surroundings)


class _Track:
    """What is remembered of one tracked face."""

    def __init__(self) -> None:
        self._cover = FaceCover()
        self._age = 0
        self._frame: Floats | None = None

    def cover(self, patch: Floats, target: Floats) -> Floats:
        side = glasses.SIDE
        positions = to_grid(add_skirt(target[:, :2]), side, outside=-1e4)
        texture = cv2.remap(patch, positions[..., 0], positions[..., 1], cv2.INTER_LINEAR)
        seen = visibility(target, patch.shape[:2])
        small = cv2.resize(texture, (FIELD, FIELD), interpolation=cv2.INTER_AREA)
        cover = cv2.resize(self._cover.update(small, seen), (side, side))
        if self._age % 8 == 0 and KEEP:
            self._frame = glasses.find_frame(texture)
        self._age += 1
        return cover if self._frame is None else np.maximum(cover, self._frame)


def _at(plane: Floats, side: int) -> tuple[Floats, Floats]:
    """Texel coordinates x, y of places in the texture plane."""
    texels = plane * side - 0.5
    return np.ascontiguousarray(texels[..., 0]), np.ascontiguousarray(texels[..., 1])


def _moved(canvas: Canvas, patch: Floats, displacement: Floats) -> Floats:
    if not displacement.any():
        return patch
    large = canvas.enlarge(displacement)
    y, x = np.mgrid[: canvas.height, : canvas.width].astype(np.float32)
    moved = cv2.remap(
        patch, x + large[..., 0], y + large[..., 1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT_101
    )
    still = np.abs(large).max(axis=-1) == 0
    moved[still] = patch[still]
    return moved
