"""DeepFaceLab's exported models (DFM): a network for one person, which gives masks besides the face."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session
from mien.errors import UsageError
from mien.models.families.family import CropFamily, Floats, Network, Rule, side_of
from mien.models.families.pixels import unit
from mien.models.families.templates import DFL_WHOLE_FACE

_SHARP, _BLURRED, _SIGMA = 1.75, -0.75, 2.0
"""Unsharp mask in front of the network."""
_MASK_SIGMA = 6.25
"""Soft edge of the mask, pixels."""
_EROSIONS = 2
_COARSEST = 16
"""Pixels of the coarsest picture whose colours are matched."""
_BINS = (50, 60)
"""Of hue and saturation."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """What a network for one person makes of crops."""

    crops: Floats
    """(n, side, side, 3) RGB 0..1."""
    masks: Floats
    """(n, side, side) 0..1: where the face is in both the target and the result."""


class DeepSwapper(CropFamily):
    """DFM models of any person and side. BGR, height, width and channels last."""

    name = "deep_swapper"
    role = "swapper"
    template = DFL_WHOLE_FACE
    size = 224
    inputs = (Rule("in_face:0", (None, None, None, 3)), Rule("morph_value:0", (None,), optional=True))
    outputs = (
        Rule(None, (None, None, None, 1)),
        Rule(None, (None, None, None, 3)),
        Rule(None, (None, None, None, 1)),
    )
    batches = False

    def __init__(self, session: Session, side: int | None = None, *, morphs: bool = True) -> None:
        """Set up.

        Args:
            session: The network.
            side: Of its crops, pixels.
            morphs: Whether it can stop half-way between the target's face and the person's.
        """
        super().__init__(session, side)
        self.morphs = morphs

    @classmethod
    def open(cls, session: Session, network: Network) -> Self:
        """The adapter of a file, which says the side of its crops and whether it morphs."""
        morphs = any(port.name == "morph_value:0" for port in network.inputs)
        return cls(session, side_of(network, 1, cls.size, "in_face:0"), morphs=morphs)

    def swap(self, crops: NDArray[Any], *, morph: float = 1.0, match_colours: bool = True) -> Swapped:
        """Crops with the network's person in them.

        Args:
            crops: (n, side, side, 3) aligned on `template`.
            morph: 0..1 from the target's face to the person's.
            match_colours: Bring the result's colours nearer to the crop's.

        Raises:
            UsageError: `morph` is not 1 and the network cannot morph.
            EngineError: the engine failed.
        """
        if morph != 1 and not self.morphs:
            raise UsageError(f"this deep swapper has no morph input: morph must be 1, got {morph}")
        before = unit(crops)
        if not len(before):
            return Swapped(before, np.empty(before.shape[:3], np.float32))
        inputs: dict[str, Floats] = {"in_face:0": np.stack([_sharpened(crop)[..., ::-1] for crop in before])}
        if self.morphs:
            inputs["morph_value:0"] = np.full(len(before), morph, np.float32)
        target_masks, faces, source_masks = self._run(inputs)
        after = np.clip(faces[..., ::-1], 0, 1)
        if match_colours:
            after = [match_colour(crop, face) for crop, face in zip(before, after, strict=True)]
        both = np.clip(np.minimum(source_masks, target_masks)[..., 0], 0, 1)
        return Swapped(np.array(after, np.float32), np.stack([_softened(mask) for mask in both]))


def match_colour(wanted: Floats, crop: Floats) -> Floats:
    """A crop nearer to the colours of another one (side, side, 3), the more so the more alike the two are."""
    matched = crop
    for side in np.linspace(_COARSEST, len(crop), 3).astype(int):
        size = (int(side), int(side))
        shift = cv2.resize(wanted, size, interpolation=cv2.INTER_AREA) - cv2.resize(
            matched, size, interpolation=cv2.INTER_AREA
        )
        spread = cv2.resize(shift, (len(crop), len(crop)), interpolation=cv2.INTER_CUBIC)
        matched = np.clip(matched + spread, 0, 1)
    share = np.float32(_likeness(wanted, crop))
    return cast(Floats, crop + (matched - crop) * share)


def _likeness(first: Floats, second: Floats) -> float:
    """0..1: how alike hues and saturations are spread."""
    counts = _colour_counts(first), _colour_counts(second)
    return (float(cv2.compareHist(counts[0], counts[1], cv2.HISTCMP_CORREL)) + 1) / 2


def _colour_counts(crop: Floats) -> NDArray[Any]:
    colours = cv2.cvtColor(np.rint(crop * 255).astype(np.uint8), cv2.COLOR_RGB2HSV)
    return cv2.calcHist([colours], [0, 1], None, _BINS, [0, 180, 0, 256])


def _sharpened(crop: Floats) -> Floats:
    blurred = cv2.GaussianBlur(crop, (0, 0), _SIGMA)
    return cast(Floats, np.clip(cv2.addWeighted(crop, _SHARP, blurred, _BLURRED, 0), 0, 1))


def _softened(mask: Floats) -> Floats:
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))
    return cast(Floats, cv2.GaussianBlur(cv2.erode(mask, kernel, iterations=_EROSIONS), (0, 0), _MASK_SIGMA))
