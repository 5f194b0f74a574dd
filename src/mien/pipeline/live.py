"""Frames of a live stream, one call each."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from mien.media.arrays import ArrayFrame
from mien.media.profiles import space_of
from mien.pipeline.scene import Scene


class LiveScene:
    """A scene whose frames are arrays that come when they come."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._colours = space_of("rgb", 255, None)
        self._index = 0
        self._began_s = time.monotonic()

    def edit(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """A copy of the next frame, RGB uint8 (height, width, 3), with its faces edited."""
        frame = ArrayFrame(picture.copy(), self._colours, index=self._index, time_s=time.monotonic() - self._began_s)
        self._index += 1
        faces = self._scene.follow(frame)
        self._scene.apply(frame, self._scene.plan(frame, faces), faces)
        return np.asarray(frame.pixels, np.uint8)
