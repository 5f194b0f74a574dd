"""What the field's face restorers share: an aligned crop in, the same face with more detail out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mien.errors import UsageError
from mien.models.families.family import CropFamily, Floats, Rule
from mien.models.families.pixels import HALVES, from_planes, to_planes
from mien.models.families.templates import FFHQ_512, Template


class Restorer(CropFamily):
    """A network with one crop in and out, both in -1..1."""

    role = "restorer"
    template: ClassVar[Template] = FFHQ_512
    size: ClassVar[int] = 512
    inputs = (Rule("input", (None, 3, None, None)),)
    outputs = (Rule(None, (None, 3, None, None)),)

    def restore(self, crops: NDArray[Any]) -> Floats:
        """Restored crops, RGB float32 in 0..1, of crops (n, side, side, 3) aligned on `template`.

        Raises:
            UsageError: the crops have another size.
            EngineError: the engine failed.
        """
        return self._restore(crops)

    def _restore(self, crops: NDArray[Any], **extra: NDArray[Any]) -> Floats:
        if crops.shape[1:] != (self.side, self.side, 3):
            raise UsageError(f"{self.name} takes crops of shape (n, {self.side}, {self.side}, 3), got {crops.shape}")
        if not len(crops):
            return np.empty(crops.shape, np.float32)
        return from_planes(self._run({"input": to_planes(crops, HALVES, HALVES), **extra})[0], HALVES, HALVES)
