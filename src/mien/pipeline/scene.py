"""Faces followed and edited over consecutive frames: the state of one segment, one animation or one live stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.edit.effect import Effect
from mien.edit.steps import Steps, steps_of
from mien.faces.face import TrackedFace
from mien.faces.refining import Refiner
from mien.geometry import Rect, bounding
from mien.media.frame import Frame


class Follower(Protocol):
    """Follows faces from frame to frame."""

    def update(self, frame: Frame) -> Sequence[TrackedFace]:
        """The faces of the next frame."""
        ...


@dataclass(frozen=True, slots=True)
class FaceEdit:
    """A face that is changed, by which role's effects, and where."""

    face: TrackedFace
    role: int
    rect: Rect


class Scene:
    """One follower and the effects of each role. Frames come in order; `follow` and the rest may run on two threads."""

    def __init__(
        self,
        follower: Follower,
        effects: Mapping[int, Sequence[Effect]],
        role_of: Callable[[TrackedFace, Sequence[TrackedFace]], int | None],
        refiner: Refiner | None = None,
    ) -> None:
        """Args:
        follower: fresh, with no frame seen.
        effects: by role, in the order they are applied; each instance belongs to this scene alone.
        role_of: the role a face plays among all faces of its frame, or None if it stays as it is.
        refiner: gives faces the points that networks go by; without one they take the follower's.
        """
        self._refiner = refiner
        self._follower = follower
        self._effects = effects
        self._role_of = role_of

    @property
    def remembers(self) -> bool:
        """Whether edits depend on the frames before."""
        return any(effect.remembers for effects in self._effects.values() for effect in effects)

    def follow(self, frame: Frame) -> Sequence[TrackedFace]:
        """The faces of the next frame, whose pixels are still the target's."""
        return self._follower.update(frame)

    def refine(self, frame: Frame, faces: Sequence[TrackedFace]) -> Steps[Sequence[TrackedFace]]:
        """The faces as effects want them; the frame's pixels are still the target's."""
        if self._refiner is None or not faces:
            return faces
        yield "landmarker"
        return self._refiner.refine(frame, faces)

    def plan(self, frame: Frame, faces: Sequence[TrackedFace]) -> list[FaceEdit]:
        """The faces that have a role, in the order they are edited."""
        roles = [(face, self._role_of(face, faces)) for face in faces]
        return [FaceEdit(face, role, self._rect(role, face, frame)) for face, role in roles if role is not None]

    def rehearse(self, frame: Frame, edits: Sequence[FaceEdit], faces: Sequence[TrackedFace]) -> Steps[None]:
        """Let the effects see a frame before the first one that is edited; its pixels stay as they are."""
        for edit in edits:
            effects = self._effects[edit.role]
            last = max((number for number, effect in enumerate(effects, 1) if effect.remembers), default=0)
            yield from self._patches(frame, edit, faces, effects[:last])

    def apply(self, frame: Frame, edits: Sequence[FaceEdit], faces: Sequence[TrackedFace]) -> Steps[None]:
        """Edit the frame in place, one face after the other."""
        for edit in edits:
            before, after = yield from self._patches(frame, edit, faces, self._effects[edit.role])
            frame.apply(edit.rect, before, after)

    def _rect(self, role: int, face: TrackedFace, frame: Frame) -> Rect:
        rect = bounding([effect.rect(face, frame.width, frame.height) for effect in self._effects[role]])
        return rect.align(frame.step, frame.width, frame.height) or rect

    def _patches(
        self, frame: Frame, edit: FaceEdit, faces: Sequence[TrackedFace], effects: Sequence[Effect]
    ) -> Steps[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """The patch of a face as it is, and edited by `effects`."""
        others = [other for other in faces if other is not edit.face]
        before = after = frame.working(edit.rect)
        for effect in effects:
            after = yield from steps_of(effect, after, edit.rect, edit.face, others, before)
        return before, after
