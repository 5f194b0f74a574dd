"""What several jobs share: loaded networks, and the people made from source and reference pictures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mien.edit.source import SourceFace, build_source
from mien.faces.analyser import FaceAnalyser
from mien.faces.people import reference_embedding
from mien.media.pictures import read_rgb
from mien.pipeline.checkpoint import content_digest
from mien.recipe import Recipe

T = TypeVar("T")


class Workshop:
    """Networks loaded once and faces built once, for any number of jobs one after the other.

    Safe to use from several threads. What was built is found again by the content of the pictures, not their names.
    """

    def __init__(self, device: str = "auto", precision: str = "auto") -> None:
        """Choose where networks run; nothing is loaded before it is needed.

        Args:
            device: `auto`, `cpu`, `gpu`, ...
            precision: `auto`, `fp32` or `bf16`.

        Raises:
            EngineError: the device or precision is not there.
        """
        self.device = device
        self.precision = precision
        self.analyser = FaceAnalyser(device, precision)
        self._made: dict[tuple[str, ...], object] = {}
        self._locks: dict[tuple[str, ...], threading.Lock] = {}
        self._lock = threading.Lock()

    def roles(self, recipe: Recipe) -> tuple[SourceFace, ...]:
        """Whose faces appear: a role's number is its place here.

        Raises:
            UnreadableError, NoFaceError, UnfitSourceError: see `source`.
        """
        groups = [entry.sources for entry in recipe.map] or [recipe.sources]
        return tuple(self.source(pictures) for pictures in groups)

    def references(self, recipe: Recipe) -> list[tuple[str, NDArray[np.float32]]]:
        """Name and identity embedding of each reference picture, in the order of the roles.

        Raises:
            UnreadableError, NoFaceError: see `identity`.
        """
        names = [entry.reference for entry in recipe.map] or ([recipe.reference] if recipe.reference else [])
        return [(name, self.identity(name)) for name in names]

    def source(self, pictures: Sequence[str]) -> SourceFace:
        """The person that `pictures` show.

        Raises:
            UnreadableError: a picture cannot be read.
            NoFaceError: none shows a face.
            UnfitSourceError: none can be used.
        """
        key = ("source", *(content_digest(Path(picture)) for picture in pictures))
        return self._once(
            key, lambda: build_source([(picture, read_rgb(picture)) for picture in pictures], self.analyser)
        )

    def identity(self, picture: str) -> NDArray[np.float32]:
        """(128,) identity embedding of the largest face in a reference picture.

        Raises:
            UnreadableError: the picture cannot be read.
            NoFaceError: it shows no face.
        """
        return self._once(
            ("identity", content_digest(Path(picture))),
            lambda: reference_embedding(picture, read_rgb(picture), self.analyser),
        )

    def _once(self, key: tuple[str, ...], make: Callable[[], T]) -> T:
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]  # type: ignore[return-value]
