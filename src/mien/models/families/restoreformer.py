"""RestoreFormer++."""

from mien.models.families.family import Rule
from mien.models.families.restoring import Restorer


class RestoreFormer(Restorer):
    """restoreformer_plus_plus."""

    name = "restoreformer"
    inputs = (Rule("input", (None, 3, 512, 512)),)
