"""dlib's face recognition network: 128 numbers per face; one person's are less than 0.6 apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session

MODEL = "dlib_face_recognition"
SIDE = 150
"""Width and height of the chip, pixels."""
SAME_PERSON_DISTANCE = 0.6
"""Euclidean distance under which two embeddings show one person (dlib's own bound)."""

MESH_POINTS = (263, 362, 33, 133, 2)
"""Face mesh vertices that stand for dlib's five landmarks: corners of the left, then the right eye; nose base."""

_PADDING = 0.25
# Mean places of dlib's five landmarks in its unit square (dlib, get_face_chip_details).
_UNIT_TEMPLATE = (
    (0.8595674595992, 0.2134981538014),
    (0.6460604764104, 0.2289674387677),
    (0.1205750620789, 0.2137274526848),
    (0.3340850613712, 0.2290642403242),
    (0.4901123135679, 0.6277975316475),
)
TEMPLATE = ((np.array(_UNIT_TEMPLATE) + _PADDING) / (1 + 2 * _PADDING) * SIDE).astype(np.float32)
"""(5, 2) where `MESH_POINTS` lie in the chip, pixels."""


class DlibIdentity:
    """The identity network."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def embed(self, chips: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Embeddings (n, 128) of aligned chips, RGB uint8 (n, 150, 150, 3). Not normalised: norms are about 1.4.

        Raises:
            EngineError: the engine failed.
        """
        return self._session.run({"image": chips.astype(np.float32)})["embedding"]
