"""DeepFaceLab's XSeg: where in an aligned crop the face is seen, and nothing in front of it."""

from __future__ import annotations

from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.models.families.family import Family, Floats, Rule
from mien.models.families.masks import enlarge
from mien.models.families.pixels import unit

_SIDE = 256


class XSeg(Family):
    """xseg_1, xseg_2, xseg_3. BGR, height, width and channels last."""

    name = "xseg"
    role = "occluder"
    inputs = (Rule("input", (None, _SIDE, _SIDE, 3)),)
    outputs = (Rule(None, (None, _SIDE, _SIDE, 1)),)

    def visible(self, crops: NDArray[Any]) -> Floats:
        """Masks (n, size, size), 1 where the face is seen, of aligned crops (n, size, size, 3).

        Raises:
            EngineError: the engine failed.
        """
        if not len(crops):
            return np.empty(crops.shape[:3], np.float32)
        views = np.stack([cast(NDArray[Any], cv2.resize(crop, (_SIDE, _SIDE))) for crop in crops])
        (masks,) = self._run({"input": np.ascontiguousarray(unit(views)[..., ::-1])})
        return enlarge(masks[..., 0], crops.shape[1])
