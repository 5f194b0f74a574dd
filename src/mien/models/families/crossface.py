"""CrossFace: embeddings of the field's recogniser in the spaces that other swappers were trained with."""

from __future__ import annotations

import numpy as np

from mien.models.families.family import Family, Rule
from mien.models.families.identity import DIMENSIONS, Identity, unit_vectors


class CrossFace(Family):
    """crossface_simswap, crossface_ghost, crossface_hififace."""

    name = "crossface"
    role = "converter"
    inputs = (Rule("input", (None, DIMENSIONS)),)
    outputs = (Rule(None, (None, DIMENSIONS)),)

    def convert(self, identity: Identity) -> Identity:
        """The same person for the swapper that the converter belongs to.

        Raises:
            EngineError: the engine failed.
        """
        (converted,) = self._run({"input": identity.raw[None].astype(np.float32)})
        return Identity(converted[0].astype(np.float32), unit_vectors(converted)[0])
