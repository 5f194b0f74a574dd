"""Where an edited crop is to be seen: several masks, of which each pixel takes the least."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from mien.edit.raster import Floats
from mien.edit.steps import Steps
from mien.models.families import masks
from mien.models.families.bisenet import REGIONS, BiSeNet
from mien.models.families.masks import AREAS
from mien.models.families.xseg import XSeg

KINDS: Mapping[str, str] = {
    "box": "all of the crop but a soft border",
    "occlusion": "where nothing is in front of the face, as an occluder sees it",
    "area": "the hull of parts of the face",
    "region": "parts of the edited face, as a parser sees them",
}
"""Masks by name, and what they show."""


@dataclass(frozen=True, slots=True)
class MaskSettings:
    """Which masks, and how they are made."""

    kinds: tuple[str, ...] = ("box",)
    """Of `KINDS`, one at least."""
    blur: float = 0.3
    """Width of the box's soft border over half of the crop's side, 0..1."""
    padding: tuple[float, float, float, float] = (0, 0, 0, 0)
    """Top, right, bottom and left border of the box in percent of the crop's side."""
    areas: tuple[str, ...] = tuple(AREAS)
    regions: tuple[str, ...] = tuple(REGIONS)

    @property
    def for_restoring(self) -> MaskSettings:
        """The same without what belongs to a new face: a box without padding, and what is in front of the face."""
        occlusion = ("occlusion",) if "occlusion" in self.kinds else ()
        return replace(self, kinds=("box", *occlusion), padding=(0, 0, 0, 0))


class Masker:
    """Makes masks of crops."""

    def __init__(self, settings: MaskSettings, occluder: XSeg | None = None, parser: BiSeNet | None = None) -> None:
        """Set up.

        Args:
            settings: What to make.
            occluder: Needed for `occlusion`.
            parser: Needed for `region`.
        """
        self.settings = settings
        self._occluder = occluder
        self._parser = parser

    def mask(self, before: Floats, after: Floats, points: NDArray[Any]) -> Steps[Floats]:
        """(size, size) 0..1 where the edited crop is to be seen.

        Args:
            before: (size, size, 3) the crop as it was cut.
            after: (size, size, 3) as the network has made it.
            points: (68, 2) of the face in the crop.

        Raises:
            EngineError: a network failed.
        """
        settings, size = self.settings, len(before)
        made: list[Floats] = []
        for kind in settings.kinds:
            if kind == "box":
                made.append(masks.box(size, blur=settings.blur, padding=settings.padding))
            elif kind == "occlusion" and self._occluder is not None:
                yield "occluder"
                made.append(self._occluder.visible(before[None])[0])
            elif kind == "area":
                made.append(masks.area(points, size, settings.areas))
            elif kind == "region" and self._parser is not None:
                yield "parser"
                made.append(self._parser.region(after[None], settings.regions)[0])
            else:
                raise ValueError(f"no network was given for the mask '{kind}'")
        return masks.combine(made)
