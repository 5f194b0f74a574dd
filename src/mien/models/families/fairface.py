"""FairFace: what a face looks like in the classes of the FairFace data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.models.families.family import Family, Rule
from mien.models.families.pixels import IMAGENET_MEAN, IMAGENET_STD, to_planes
from mien.models.families.templates import ARCFACE_112_V2

RACES = ("white", "black", "latino", "asian", "asian", "indian", "arabic")
"""By the network's number."""
GENDERS = ("male", "female")
AGES = ((0, 2), (3, 9), (10, 19), (20, 29), (30, 39), (40, 49), (50, 59), (60, 69), (70, 100))
"""First and last year, by the network's number."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What the network sees in a face: a guess, never a fact about a person."""

    race: str
    gender: str
    age: tuple[int, int]
    """First and last year."""


class FairFace(Family):
    """fairface."""

    name = "fairface"
    role = "classifier"
    template = ARCFACE_112_V2
    size = 224
    inputs = (Rule("input", (None, 3, size, size)),)
    outputs = (Rule(None, None),) * 3

    def classify(self, crops: NDArray[Any]) -> list[Looks]:
        """Looks of each of the aligned crops (n, 224, 224, 3).

        Raises:
            EngineError: the engine failed.
        """
        outputs = self._run({"input": to_planes(crops, IMAGENET_MEAN, IMAGENET_STD)})
        numbers = np.stack([np.rint(output).astype(int).ravel() for output in outputs[:3]], axis=1)
        return [Looks(RACES[race], GENDERS[gender], AGES[age]) for race, gender, age in numbers]
