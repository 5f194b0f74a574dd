"""What frame upscalers share: a picture of any size in, one `scale` times as large out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session
from mien.errors import ModelError
from mien.models.families.family import Family, Floats, Network
from mien.models.families.pixels import unit
from mien.models.families.tiles import Tiling, run_tiled


class Upscaler(Family):
    """A network that enlarges tiles."""

    role = "upscaler"
    tiling: ClassVar[Tiling]

    def __init__(self, session: Session, scale: int, tiling: Tiling | None = None) -> None:
        """Set up.

        Args:
            session: The network.
            scale: Its enlargement: 2, 4, 8.
            tiling: How pictures are cut.
        """
        super().__init__(session)
        self.scale = scale
        self._tiling = tiling or self.tiling

    @classmethod
    def open(cls, session: Session, network: Network) -> Self:
        """The adapter of a file: one black tile shows how much it enlarges.

        Raises:
            ModelError: its output is not larger by a whole number.
        """
        del network
        side = cls.tiling.side
        probe = cls(session, 1)._enlarge(np.zeros((1, side, side, 3), np.float32))
        scale, rest = divmod(probe.shape[1], side)
        if rest or scale < 1 or probe.shape[2] != probe.shape[1]:
            raise ModelError(f"{cls.name}: {side}x{side} pixels became {probe.shape[2]}x{probe.shape[1]}")
        return cls(session, scale)

    def upscale(self, picture: NDArray[Any]) -> Floats:
        """(scale * height, scale * width, 3) RGB float32 in 0..1 of a picture (height, width, 3).

        Raises:
            EngineError: the engine failed.
        """
        return run_tiled(unit(picture), self._tiling, self.scale, self._enlarge)

    @abstractmethod
    def _enlarge(self, tiles: Floats) -> Floats:
        """(n, scale * side, scale * side, 3) in 0..1 of tiles (n, side, side, 3)."""
