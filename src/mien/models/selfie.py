"""MediaPipe's selfie segmentation: where in a picture people are."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session

MODEL = "selfie_segmentation"
SIDE = 256
"""Width and height of the network's view, pixels."""


class SelfieSegmentation:
    """The person segmenter."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def person_mask(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probability 0..1 (height, width) that a pixel shows a person; `image` is RGB uint8 of any size.

        Raises:
            EngineError: the engine failed.
        """
        height, width = image.shape[:2]
        how = cv2.INTER_AREA if min(height, width) > SIDE else cv2.INTER_LINEAR
        view = cv2.resize(image, (SIDE, SIDE), interpolation=how)
        mask = self._session.run({"input_1": view[None] * np.float32(1 / 255)})["activation_10"][0, :, :, 0]
        return np.clip(cv2.resize(mask, (width, height), interpolation=cv2.INTER_LINEAR), 0, 1).astype(np.float32)
