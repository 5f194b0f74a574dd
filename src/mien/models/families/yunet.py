"""OpenCV's YuNet: class and object scores, boxes and points relative to one anchor in each cell of three layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.models.families.detection import STRIDES, Detector, Faces, anchors, join_layers
from mien.models.families.family import Rule


class YuNet(Detector):
    """yunet_2023_mar: twelve outputs, class, object, box, points, each for the layers 8, 16, 32."""

    name = "yunet"
    outputs = (
        *(Rule(None, (None, None, 1)),) * 6,
        *(Rule(None, (None, None, 4)),) * 3,
        *(Rule(None, (None, None, 10)),) * 3,
    )

    def _decode(self, outputs: Sequence[NDArray[Any]], threshold: float) -> Faces:
        layers = zip(STRIDES, outputs[:3], outputs[3:6], outputs[6:9], outputs[9:12], strict=True)
        return join_layers([self._layer(*layer, threshold) for layer in layers])

    def _layer(
        self,
        stride: int,
        classes: NDArray[Any],
        objects: NDArray[Any],
        boxes: NDArray[Any],
        points: NDArray[Any],
        threshold: float,
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        scores = classes[:, 0] * objects[:, 0]
        kept = np.flatnonzero(scores >= threshold)
        cells = anchors(self._side, stride, 1)[kept]
        centres = boxes[kept, :2] * stride + cells
        half = np.exp(boxes[kept, 2:]) * (stride / 2)
        corners = np.concatenate([centres - half, centres + half], axis=1)
        return corners, points[kept] * stride + np.tile(cells, 5), scores[kept]
