"""InsightFace's inswapper_128: the embedding goes through a matrix that lies in the file beside the network."""

from __future__ import annotations

from typing import Self

import numpy as np

from mien.engine.session import Session
from mien.errors import ModelError
from mien.models.families.family import Floats, Network
from mien.models.families.identity import DIMENSIONS, Identity
from mien.models.families.swapping import EmbeddingSwapper, embedding_ports
from mien.models.families.templates import ARCFACE_128


class InSwapper(EmbeddingSwapper):
    """inswapper_128, inswapper_128_fp16."""

    name = "inswapper"
    template = ARCFACE_128
    size = 128
    inputs = embedding_ports(size)

    def __init__(self, session: Session, emap: Floats) -> None:
        """Set up.

        Args:
            session: The network.
            emap: (512, 512) from the recogniser's space to the swapper's.
        """
        super().__init__(session)
        self._emap = emap

    @classmethod
    def open(cls, session: Session, network: Network) -> Self:
        """The adapter of a file; of its weights only the matrix is read.

        Raises:
            ModelError: its last weight is not that matrix.
        """
        emap = network.last_weight()
        if emap.shape != (DIMENSIONS, DIMENSIONS):
            raise ModelError(f"inswapper: the file's last weight is to be a 512x512 matrix, it has shape {emap.shape}")
        return cls(session, emap.astype(np.float32))

    def source(self, identity: Identity) -> Floats:
        """The raw embedding through the matrix, over the raw embedding's length."""
        return (identity.raw @ self._emap / max(float(np.linalg.norm(identity.raw)), 1e-12)).astype(np.float32)
