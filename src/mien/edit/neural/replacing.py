"""Swappers of the field that know already whose face they are to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from mien.edit.raster import Floats
from mien.models.families.deep_swapper import DeepSwapper
from mien.models.families.family import CropFamily
from mien.models.families.swapping import PLAIN_STRENGTH, EmbeddingSwapper, PictureSwapper
from mien.models.families.templates import Template


class Replacer(Protocol):
    """Puts a person's face into crops."""

    @property
    def template(self) -> Template:
        """On which crops are aligned."""
        ...

    @property
    def side(self) -> int:
        """Width and height of the network's crops, pixels."""
        ...

    @property
    def needs_target(self) -> bool:
        """Whether `replace` has to be told who is replaced."""
        ...

    def replace(self, crop: Floats, target: Floats | None) -> tuple[Floats, Floats | None]:
        """The crop (size, size, 3) with the person's face, and where that is to be seen (size, size) if it knows.

        Args:
            crop: RGB 0..1; its size is a multiple of `side`.
            target: (512,) raw embedding of the face in it.

        Raises:
            EngineError: the engine failed.
        """
        ...


SwapperT = TypeVar("SwapperT", bound=CropFamily)


@dataclass(frozen=True, slots=True)
class _By(Generic[SwapperT]):
    """What the three kinds of swappers share."""

    swapper: SwapperT

    @property
    def template(self) -> Template:
        """On which crops are aligned."""
        return self.swapper.template

    @property
    def side(self) -> int:
        """Width and height of the network's crops, pixels."""
        return self.swapper.side

    @property
    def needs_target(self) -> bool:
        """Whether `replace` has to be told who is replaced."""
        return False


@dataclass(frozen=True, slots=True)
class ByEmbedding(_By[EmbeddingSwapper]):
    """With a network that knows the person by an embedding."""

    source: Floats
    """(512,) as the network wants it."""
    strength: float = PLAIN_STRENGTH

    @property
    def needs_target(self) -> bool:
        """Whether `replace` has to be told who is replaced."""
        return self.strength != PLAIN_STRENGTH

    def replace(self, crop: Floats, target: Floats | None) -> tuple[Floats, Floats | None]:
        """See `Replacer`."""
        targets = None if target is None else target[None]
        return self.swapper.swap(crop[None], self.source, targets=targets, strength=self.strength)[0], None


@dataclass(frozen=True, slots=True)
class ByPicture(_By[PictureSwapper]):
    """With a network that knows the person by a picture."""

    picture: NDArray[Any]
    """(picture_size, picture_size, 3) aligned crop of the source."""

    def replace(self, crop: Floats, target: Floats | None) -> tuple[Floats, Floats | None]:
        """See `Replacer`."""
        del target
        return self.swapper.swap(crop[None], self.picture)[0], None


@dataclass(frozen=True, slots=True)
class ByTraining(_By[DeepSwapper]):
    """With a network that was trained for the person."""

    def replace(self, crop: Floats, target: Floats | None) -> tuple[Floats, Floats | None]:
        """See `Replacer`."""
        del target
        swapped = self.swapper.swap(crop[None])
        return swapped.crops[0], swapped.masks[0]
