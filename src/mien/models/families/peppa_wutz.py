"""peppa_wutz: 68 points with a score each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from mien.models.families.face_view import ViewLandmarker
from mien.models.families.family import Rule

_SURE = 0.95
"""Mean score of the points that counts as 1."""


class PeppaWutz(ViewLandmarker):
    """peppa_wutz."""

    name = "peppa_wutz"
    outputs = (Rule(None, None),)

    def _read(self, outputs: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
        points = outputs[0].reshape(-1, 68, 3)
        return points[:, :, :2], points[:, :, 2].mean(axis=1) / _SURE
