"""Face Alignment Network (2dfan4): 68 points with a heat map each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from mien.models.families.face_view import GRID, ViewLandmarker
from mien.models.families.family import Rule

_SURE = 0.9
"""Mean peak of the heat maps that counts as 1."""


class Fan(ViewLandmarker):
    """2dfan4."""

    name = "2dfan4"
    outputs = (Rule(None, (None, 68, 3)), Rule(None, (None, 68, GRID, GRID)))

    def _read(self, outputs: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
        return outputs[0][:, :, :2], outputs[1].max(axis=(2, 3)).mean(axis=1) / _SURE
