"""ArcFace: 512 numbers that tell people apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.models.families.family import Family, Floats, Rule
from mien.models.families.identity import DIMENSIONS
from mien.models.families.pixels import HALVES, to_planes
from mien.models.families.templates import ARCFACE_112_V2


class ArcFace(Family):
    """arcface_w600k_r50."""

    name = "arcface"
    role = "recogniser"
    template = ARCFACE_112_V2
    size = 112
    inputs = (Rule("input", (None, 3, size, size)),)
    outputs = (Rule(None, (None, DIMENSIONS)),)

    def embed(self, crops: NDArray[Any]) -> Floats:
        """Embeddings (n, 512), not normalised, of aligned crops (n, 112, 112, 3).

        Raises:
            EngineError: the engine failed.
        """
        return self._run({"input": to_planes(crops, HALVES, HALVES)})[0].astype(np.float32, copy=False)
