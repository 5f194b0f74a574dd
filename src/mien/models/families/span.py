"""SPAN as it comes with mien: height, width and channels last."""

from __future__ import annotations

import numpy as np

from mien.models.families.family import Floats, Rule
from mien.models.families.tiles import Tiling
from mien.models.families.upscaling import Upscaler


class Span(Upscaler):
    """span_x2, span_x4."""

    name = "span"
    tiling = Tiling(256, 12, 8, fits=True)
    inputs = (Rule("image", (None, None, None, 3)),)
    outputs = (Rule("output", (None, None, None, 3)),)

    def _enlarge(self, tiles: Floats) -> Floats:
        return np.clip(self._run({"image": tiles})[0], 0, 1)
