"""Identity embeddings that need not be computed again: found by what the network would be shown."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.faces.analyser import FaceAnalyser
from mien.faces.crop import Picture
from mien.faces.face import Face

Floats = NDArray[np.float32]


class EmbeddingCache(Protocol):
    """Where embeddings are kept."""

    def get(self, key: str) -> Floats | None:
        """(128,) what was kept under `key` (64 hexadecimal digits), if it still is."""
        ...

    def put(self, key: str, embedding: Floats) -> None:
        """Keep (128,) under `key`."""
        ...


class RememberingAnalyser:
    """An analyser whose embeddings are kept. For pictures that come again, not for the frames of a video."""

    def __init__(self, analyser: FaceAnalyser, cache: EmbeddingCache, variant: str) -> None:
        """Args:
        analyser: Computes what is not kept.
        cache: Keeps it.
        variant: On what an embedding depends beside the picture: network, device, precision.
        """
        self._analyser = analyser
        self._cache = cache
        self._variant = variant

    def find(self, picture: Picture) -> list[Face]:
        """As the analyser does."""
        return self._analyser.find(picture)

    def embed(self, picture: Picture, faces: Sequence[Face]) -> Floats:
        """As the analyser does, (n, 128)."""
        return np.stack([self._embed(picture, face) for face in faces]) if faces else np.empty((0, 128), np.float32)

    def _embed(self, picture: Picture, face: Face) -> Floats:
        chip = self._analyser.chips(picture, [face])
        key = hashlib.sha256(self._variant.encode() + chip.tobytes()).hexdigest()
        kept = self._cache.get(key)
        if kept is None:
            kept = self._analyser.embed_chips(chip)[0]
            self._cache.put(key, kept)
        return kept
