"""Frames of a live stream, one call each."""

from __future__ import annotations

import time
from collections import deque

import numpy as np
from numpy.typing import NDArray

from mien.edit.steps import at_once
from mien.errors import PolicyError
from mien.media.arrays import ArrayFrame
from mien.media.profiles import space_of
from mien.pipeline.guard import Guard, Look
from mien.pipeline.scene import Scene
from mien.pipeline.stamp import Stamp
from mien.trust.gate import Ballot

_LOOKS_EVERY_S = 1.0
"""How often a stream is looked at, and those are asked who may stop it."""
_LOOKS_KEPT = 10
"""Looks of which a share may be refused."""


class LiveScene:
    """A scene whose frames are arrays that come when they come."""

    def __init__(self, scene: Scene, guard: Guard, stamp: Stamp | None = None) -> None:
        """Args:
        scene: That has seen nothing.
        guard: Has let the stream begin, and may end it.
        stamp: Marks the finished frames.
        """
        self._scene = scene
        self._guard = guard
        self._stamp = stamp
        self._looks: deque[Look] = deque(maxlen=_LOOKS_KEPT)
        self._refusal: PolicyError | None = None
        self._colours = space_of("rgb", 255, None)
        self._index = 0
        self._began_s = time.monotonic()

    def edit(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """A copy of the next frame, RGB uint8 (height, width, 3), with its faces edited.

        Raises:
            PolicyError: the stream is refused, as all that follows it.
        """
        frame = ArrayFrame(picture.copy(), self._colours, index=self._index, time_s=time.monotonic() - self._began_s)
        self._index += 1
        self._permit(frame)
        faces = at_once(self._scene.refine(frame, self._scene.follow(frame)))
        at_once(self._scene.apply(frame, self._scene.plan(frame, faces), faces))
        if self._stamp is not None:
            self._stamp(frame)
        return np.asarray(frame.pixels, np.uint8)

    def _permit(self, frame: ArrayFrame) -> None:
        if self._refusal is not None:
            raise self._refusal
        if self._looks and frame.time_s - self._looks[-1][0] < _LOOKS_EVERY_S:
            return
        try:
            with self._guard.noted():
                self._guard.permit()
            self._looks.append(self._guard.look(frame.time_s, self._guard.view(frame)))
            Ballot.of(self._looks).check("the stream", self._guard.policy.gate_share)
        except PolicyError as refusal:
            self._refusal = refusal
            raise
