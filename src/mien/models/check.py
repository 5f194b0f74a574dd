"""Whether a file is what it is taken for, by its graph."""

from __future__ import annotations

from pathlib import Path

from mien.models.families.inspection import check_family, inspect
from mien.models.families.registry import FAMILIES


def check_file(path: Path, family: str) -> None:
    """Look at a network's file: is it ONNX, whole, with the inputs and outputs of its family?

    Families of networks that come with mien and are of no use to others have no rules to compare with.

    Raises:
        ModelError: it is not; the message says what it is.
    """
    file = inspect(path)
    if family in FAMILIES.families:
        check_family(file, FAMILIES.find(family))
