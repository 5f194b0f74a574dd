"""BiSeNet: which part of the face each pixel of an aligned crop belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.models.families.family import Family, Floats, Rule
from mien.models.families.masks import regions
from mien.models.families.pixels import IMAGENET_MEAN, IMAGENET_STD, to_planes

REGIONS = {
    "skin": 1,
    "left-eyebrow": 2,
    "right-eyebrow": 3,
    "left-eye": 4,
    "right-eye": 5,
    "glasses": 6,
    "nose": 10,
    "mouth": 11,
    "upper-lip": 12,
    "lower-lip": 13,
}
"""The network's number of each region of the face."""
_SIDE = 512
_CLASSES = 19


class BiSeNet(Family):
    """bisenet_resnet_18, bisenet_resnet_34."""

    name = "bisenet"
    role = "parser"
    inputs = (Rule("input", (None, 3, _SIDE, _SIDE)),)
    outputs = (Rule(None, (None, _CLASSES, _SIDE, _SIDE)),)

    def labels(self, crops: NDArray[Any]) -> NDArray[np.uint8]:
        """Numbers of the regions (n, 512, 512) in aligned crops (n, size, size, 3).

        Raises:
            EngineError: the engine failed.
        """
        if not len(crops):
            return np.empty((0, _SIDE, _SIDE), np.uint8)
        views = np.stack([cast(NDArray[Any], cv2.resize(crop, (_SIDE, _SIDE))) for crop in crops])
        outputs = self._run({"input": to_planes(views, IMAGENET_MEAN, IMAGENET_STD)})
        return outputs[0].argmax(axis=1).astype(np.uint8)

    def region(self, crops: NDArray[Any], wanted: Iterable[str] = tuple(REGIONS)) -> Floats:
        """Masks (n, size, size) of the named regions in aligned crops (n, size, size, 3).

        Raises:
            UsageError: a region that is not in `REGIONS`.
            EngineError: the engine failed.
        """
        return regions(self.labels(crops), crops.shape[1], wanted, REGIONS)
