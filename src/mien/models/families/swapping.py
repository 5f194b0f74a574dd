"""What the field's swappers share: an aligned crop and a person in, the crop with that person's face out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mien.errors import UsageError
from mien.models.families.boost import join, split
from mien.models.families.family import CropFamily, Floats, Rule
from mien.models.families.identity import DIMENSIONS, Identity, apply_strength, unit_vectors
from mien.models.families.pixels import ONES, ZEROS, Channels, from_planes, to_planes
from mien.models.families.templates import Template

PLAIN_STRENGTH = 0.5
"""Strength at which the source is used as it is."""


class Swapper(CropFamily):
    """A network with a `target` crop and a `source`."""

    role = "swapper"
    outputs = (Rule(None, (None, 3, None, None)),)
    crop_input = "target"
    mean: ClassVar[Channels] = ZEROS
    std: ClassVar[Channels] = ONES
    """The crop's values are `(value - mean) / std` of 0..1."""
    output_mean: ClassVar[Channels] = ZEROS
    output_std: ClassVar[Channels] = ONES
    """The result's values in 0..1 are `value * std + mean`."""
    converter: ClassVar[str | None] = None
    """Which CrossFace network turns a recogniser's embedding into what this family wants."""

    def _swap(self, crops: NDArray[Any], sources: Floats) -> Floats:
        """Crops (n, k * side, k * side, 3) and what each becomes (n, ...), as (n, k * side, k * side, 3) in 0..1."""
        times = self._times(crops)
        parts = split(crops, times) if times > 1 else crops
        target = to_planes(parts, self.mean, self.std)
        source = np.repeat(np.ascontiguousarray(sources, np.float32), times * times, axis=0)
        swapped = from_planes(self._run({"target": target, "source": source})[0], self.output_mean, self.output_std)
        return join(swapped, times) if times > 1 else swapped

    def _times(self, crops: NDArray[Any]) -> int:
        height, width = crops.shape[1:3]
        if height != width or width % self.side:
            raise UsageError(
                f"{self.name} takes square crops of a multiple of {self.side} pixels, got {width}x{height}"
            )
        return width // self.side


class EmbeddingSwapper(Swapper):
    """A swapper that knows the person by an embedding."""

    unit_source: ClassVar[bool] = True
    """Whether it wants embeddings of length one, or as they come."""

    def source(self, identity: Identity) -> Floats:
        """What the network is told of a person: (512,).

        Args:
            identity: From the field's recogniser, or through `converter` where the family has one.
        """
        return identity.unit if self.unit_source else identity.raw

    def swap(
        self,
        crops: NDArray[Any],
        source: Floats,
        *,
        targets: NDArray[Any] | None = None,
        strength: float = PLAIN_STRENGTH,
    ) -> Floats:
        """Crops with the source's face, RGB float32 in 0..1.

        Args:
            crops: (n, k * side, k * side, 3) aligned on `template`; with k > 1 each runs as k * k interleaved pictures.
            source: (512,) from `source`.
            targets: (n, 512) raw embeddings of the faces in the crops; needed unless `strength` is 0.5.
            strength: 0..1, see `identity.apply_strength`.

        Raises:
            UsageError: the crops have another size, or targets are missing.
            EngineError: the engine failed.
        """
        if not len(crops):
            return np.empty(crops.shape, np.float32)
        if strength == PLAIN_STRENGTH:
            return self._swap(crops, np.broadcast_to(source, (len(crops), DIMENSIONS)))
        if targets is None:
            raise UsageError(f"a strength of {strength} needs the embeddings of the faces that are replaced")
        own = unit_vectors(targets) if self.unit_source else targets
        return self._swap(crops, apply_strength(source, own, strength))


class PictureSwapper(Swapper):
    """A swapper that knows the person by a picture."""

    picture_template: ClassVar[Template]
    picture_size: ClassVar[int]
    """Template and side of the source's crop, pixels."""

    def swap(self, crops: NDArray[Any], picture: NDArray[Any]) -> Floats:
        """Crops with the source's face, RGB float32 in 0..1.

        Args:
            crops: (n, k * side, k * side, 3) aligned on `template`; with k > 1 each runs as k * k interleaved pictures.
            picture: (picture_size, picture_size, 3) of the source, aligned on `picture_template`.

        Raises:
            UsageError: the crops have another size.
            EngineError: the engine failed.
        """
        if not len(crops):
            return np.empty(crops.shape, np.float32)
        return self._swap(crops, np.repeat(to_planes(picture[None]), len(crops), axis=0))


def embedding_ports(side: int) -> tuple[Rule, Rule]:
    """Inputs of a swapper that knows the person by an embedding."""
    return Rule("target", (None, 3, side, side)), Rule("source", (None, DIMENSIONS))


def picture_ports(side: int, picture: int) -> tuple[Rule, Rule]:
    """Inputs of a swapper that knows the person by a picture."""
    return Rule("target", (None, 3, side, side)), Rule("source", (None, 3, picture, picture))
