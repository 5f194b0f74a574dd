"""nsfwjs' MobileNet v2: whether a picture is sexual, in five classes."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session

MODEL = "nsfwjs_mobilenet_v2"
SIDE = 224
"""Width and height of the network's view, pixels."""
CLASSES = ("drawing", "hentai", "neutral", "porn", "sexy")
"""What the five numbers stand for."""
_REFUSED = [CLASSES.index(name) for name in ("hentai", "porn")]


class NsfwJs:
    """The classifier that comes with mien."""

    name = MODEL

    def __init__(self, session: Session) -> None:
        self._session = session

    def classify(self, picture: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Probabilities (5,) of `CLASSES`, of sum one; `picture` is RGB uint8 of any size.

        Raises:
            EngineError: the engine failed.
        """
        view = shrunk(picture, SIDE)
        return self._session.run({"input_1": view[None] * np.float32(1 / 255)})["output"][0]

    def score(self, picture: NDArray[np.uint8]) -> float:
        """How sure the network is, 0..1, that a picture is pornographic, photographed or drawn.

        Raises:
            EngineError: the engine failed.
        """
        return float(self.classify(picture)[_REFUSED].sum())


def shrunk(picture: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """A picture in the square that a classifier looks at: stretched, as they were trained with."""
    how = cv2.INTER_AREA if min(picture.shape[:2]) > side else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(picture, (side, side), interpolation=how), np.uint8)
