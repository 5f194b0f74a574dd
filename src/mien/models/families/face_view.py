"""The 256-pixel view of a face that the field's 68-point networks take, cut by its box and turned upright."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.models.families.alignment import Matrix, invert, move
from mien.models.families.family import Family, Floats, Rule

SIDE = 256
"""Width and height of the view, pixels."""
GRID = 64
"""Of the grid in which the networks give their points."""
_BOX = 195.0
"""Longer side of the face's box in the view, pixels."""
_DARK = 30.0
"""Mean lightness (0..255) of a view under which its contrast is raised."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """68 points of each face, in pixels of the picture."""

    points: Floats
    """(n, 68, 2)"""
    scores: Floats
    """(n,) 0..1: how sure the network is."""


class ViewLandmarker(Family):
    """A network from views to 68 points."""

    role = "landmarker"
    inputs = (Rule("input", (None, 3, SIDE, SIDE)),)

    def landmarks(
        self, image: NDArray[np.uint8], boxes: Sequence[NDArray[Any]], angles: Sequence[int] | None = None
    ) -> Landmarks:
        """Landmarks of the faces of one picture.

        Args:
            image: RGB uint8 (height, width, 3).
            boxes: (4,) left, top, right, bottom of each face.
            angles: Of each face, by which it is turned clockwise in the picture: 0, 90, 180 or 270. None: all upright.

        Raises:
            EngineError: the engine failed.
        """
        if not boxes:
            return Landmarks(np.empty((0, 68, 2), np.float32), np.empty(0, np.float32))
        matrices = [view_matrix(box, angle) for box, angle in zip(boxes, angles or [0] * len(boxes), strict=True)]
        views = np.stack([_view(image, matrix) for matrix in matrices])
        # Trained on RGB, but the field feeds BGR: scores and points are known for that.
        batch = views[..., ::-1].transpose(0, 3, 1, 2) * np.float32(1 / 255)
        grid, scores = self._read(self._run({"input": np.ascontiguousarray(batch)}))
        points = [move(face * (SIDE / GRID), invert(m)) for face, m in zip(grid, matrices, strict=True)]
        return Landmarks(np.array(points, np.float32), np.clip(scores, 0, 1).astype(np.float32))

    @abstractmethod
    def _read(self, outputs: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Points (n, 68, 2) on the grid and scores (n,)."""


def view_matrix(box: NDArray[Any], angle: int = 0) -> Matrix:
    """From the picture to the view of the face in `box`, which is turned clockwise by `angle` degrees."""
    scale = _BOX / max(float(box[2] - box[0]), float(box[3] - box[1]), 1.0)
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    turn = math.radians(angle)
    cosine, sine = round(math.cos(turn)) * scale, round(math.sin(turn)) * scale
    middle = SIDE / 2
    return np.array([[cosine, sine, middle - cosine * x - sine * y], [-sine, cosine, middle + sine * x - cosine * y]])


def quarter_angle(points: NDArray[Any]) -> int:
    """By how many degrees, of 0, 90, 180 and 270, a face with these 68 points (68, 2) is turned clockwise."""
    across = points[16] - points[0]
    return round(math.degrees(math.atan2(across[1], across[0])) / 90) % 4 * 90


def _view(image: NDArray[np.uint8], matrix: Matrix) -> NDArray[np.uint8]:
    view = cv2.warpAffine(image, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR)
    return _brightened(cast(NDArray[np.uint8], view))


def _brightened(view: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Views of dark faces with more contrast in their lightness."""
    # The field takes blue for red here, which decides what counts as dark.
    lab = cv2.cvtColor(np.ascontiguousarray(view[..., ::-1]), cv2.COLOR_RGB2Lab)
    if lab[..., 0].mean() >= _DARK:
        return view
    lab[..., 0] = cv2.createCLAHE(clipLimit=2).apply(lab[..., 0])
    return cast(NDArray[np.uint8], cv2.cvtColor(lab, cv2.COLOR_Lab2RGB)[..., ::-1])
