"""YOLOv8 with five points: one output of columns cx, cy, w, h, score and five times x, y, confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.models.families.detection import Detector, Faces, join_layers
from mien.models.families.family import Rule


class YoloFace(Detector):
    """yoloface_8n."""

    name = "yolo_face"
    scale = 255.0
    outputs = (Rule(None, (None, 20, None)),)

    def _decode(self, outputs: Sequence[NDArray[Any]], threshold: float) -> Faces:
        rows = outputs[0].T
        rows = rows[rows[:, 4] > threshold]
        centres, half = rows[:, :2], rows[:, 2:4] / 2
        points = rows[:, 5:].reshape(-1, 5, 3)[:, :, :2].reshape(-1, 10)
        return join_layers([(np.concatenate([centres - half, centres + half], axis=1), points, rows[:, 4])])
