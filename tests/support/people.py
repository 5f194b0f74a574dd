"""People for tests: the three stills, and invented ones mixed from them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.faces.analyser import FaceAnalyser
from support.puppet import Puppet, make_puppet

STILLS = Path(__file__).parents[1] / "stills"
NAMES = ("astronaut", "grace_hopper", "luispedro")
"""The stills: a woman with a smile; an old woman with glasses and a hat; a man in three-quarter view."""


@cache
def analyser() -> FaceAnalyser:
    """One analyser for all who make test material."""
    return FaceAnalyser(device="cpu", precision="fp32")


def picture(name: str) -> NDArray[np.uint8]:
    """A still as (height, width, 3) RGB."""
    path = next(STILLS.glob(f"{name}.*"))
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


@cache
def still(name: str) -> Puppet:
    """The puppet of a still."""
    return puppet_of(name, picture(name))


def puppet_of(name: str, image: NDArray[np.uint8]) -> Puppet:
    """The puppet of the largest face in a picture (height, width, 3) RGB."""
    face = analyser().find(image)[0]
    return make_puppet(name, image, face.landmarks, analyser().person_mask(image))
