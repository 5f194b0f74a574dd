"""InsightFace's anchor detectors: distances from two anchors in each cell of three layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.models.families.detection import STRIDES, Detector, Faces, anchors, join_layers
from mien.models.families.family import Rule

_PER_CELL = 2


class RetinaFace(Detector):
    """retinaface_10g: nine outputs, scores then boxes then points of the layers 8, 16, 32.

    The outputs of these files have no batch axis: pictures run one by one.
    """

    name = "retinaface"
    scale = 128.0
    offset = 127.5
    outputs = (Rule(None, None),) * 9
    batches = False

    def _run(self, inputs: Any) -> tuple[NDArray[Any], ...]:
        views = inputs["input"]
        runs = [self._session.run({"input": views[i : i + 1]}) for i in range(len(views))]
        return tuple(np.stack([run[name].reshape(-1, run[name].shape[-1]) for run in runs]) for name in runs[0])

    def _decode(self, outputs: Sequence[NDArray[Any]], threshold: float) -> Faces:
        scores, boxes, points = outputs[:3], outputs[3:6], outputs[6:9]
        return join_layers(
            [self._layer(*layer, threshold) for layer in zip(STRIDES, scores, boxes, points, strict=True)]
        )

    def _layer(
        self, stride: int, scores: NDArray[Any], boxes: NDArray[Any], points: NDArray[Any], threshold: float
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        kept = np.flatnonzero(scores[:, 0] >= threshold)
        centres = anchors(self._side, stride, _PER_CELL)[kept]
        reach = boxes[kept] * stride
        corners = np.concatenate([centres - reach[:, :2], centres + reach[:, 2:]], axis=1)
        return corners, np.tile(centres, 5) + points[kept] * stride, scores[kept, 0]


class Scrfd(RetinaFace):
    """scrfd_2.5g: as RetinaFace."""

    name = "scrfd"
