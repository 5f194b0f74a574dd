"""GPEN-BFR."""

from mien.models.families.family import Rule
from mien.models.families.restoring import Restorer
from mien.models.families.templates import ARCFACE_128


class Gpen(Restorer):
    """gpen_bfr_512, gpen_bfr_1024, gpen_bfr_2048."""

    name = "gpen"


class Gpen256(Restorer):
    """gpen_bfr_256, the only one that is aligned as the swappers are."""

    name = "gpen_256"
    template = ARCFACE_128
    size = 256
    inputs = (Rule("input", (None, 3, 256, 256)),)
