"""fan_68_5: an estimate of the 68 points from five."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.models.families.alignment import align, invert, move
from mien.models.families.family import Family, Floats, Rule
from mien.models.families.templates import FFHQ_512


class Fan68From5(Family):
    """fan_68_5."""

    name = "fan_68_5"
    role = "landmarker"
    inputs = (Rule("input", (None, 5, 2)),)
    outputs = (Rule(None, (None, 68, 2)),)

    def estimate(self, points: NDArray[Any]) -> Floats:
        """(n, 68, 2) of five points each (n, 5, 2), both in pixels of the picture.

        Raises:
            EngineError: the engine failed.
        """
        matrices = [align(face, FFHQ_512, 1) for face in points]
        placed = [move(face, matrix) for face, matrix in zip(points, matrices, strict=True)]
        if not placed:
            return np.empty((0, 68, 2), np.float32)
        (estimates,) = self._run({"input": np.array(placed, np.float32)})
        back = [move(face, invert(matrix)) for face, matrix in zip(estimates, matrices, strict=True)]
        return np.array(back, np.float32)
