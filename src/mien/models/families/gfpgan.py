"""Tencent's GFPGAN."""

from mien.models.families.family import Rule
from mien.models.families.restoring import Restorer


class Gfpgan(Restorer):
    """gfpgan_1.2, gfpgan_1.3, gfpgan_1.4."""

    name = "gfpgan"
    inputs = (Rule("input", (None, 3, 512, 512)),)
