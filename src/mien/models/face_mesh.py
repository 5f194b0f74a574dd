"""MediaPipe's face mesh with attention: 478 landmarks of one face in a square crop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session

MODEL = "face_mesh_478"
SIDE = 192
"""Width and height of the crop, pixels."""
MARGIN = 1.5
"""Side of the crop over the longer side of the face's box."""


class FaceMesh:
    """The landmark network."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def landmarks(self, crops: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Landmarks and presence of upright faces.

        Args:
            crops: RGB uint8 (n, 192, 192, 3), the face level and in the middle, `MARGIN` times its size.

        Returns:
            landmarks: (n, 478, 3) x, y in pixels of the crop, z on the same scale (smaller = nearer).
            presence: (n,) 0..1, how sure the network is that this is a face.

        Raises:
            EngineError: the engine failed.
        """
        outputs = self._session.run({"image": crops * np.float32(1 / 255)})
        return outputs["landmarks"], outputs["presence"][:, 0]
