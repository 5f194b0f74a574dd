"""CodeFormer: a restorer with a dial between faithful and beautiful."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.models.families.family import Floats, Rule
from mien.models.families.restoring import Restorer


class CodeFormer(Restorer):
    """codeformer. Its second input is one float64 for the whole batch: crops run one by one."""

    name = "codeformer"
    inputs = (Rule("input", (None, 3, 512, 512)), Rule("weight", None))
    batches = False

    def restore(self, crops: NDArray[Any], *, weight: float = 0.5) -> Floats:
        """Restored crops, RGB float32 in 0..1, of crops (n, 512, 512, 3) aligned on `template`.

        Args:
            crops: RGB.
            weight: 0..1: higher is more faithful to the crop.

        Raises:
            UsageError: the crops have another size.
            EngineError: the engine failed.
        """
        return self._restore(crops, weight=np.full(len(crops), weight, np.float64))
