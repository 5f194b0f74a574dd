"""Files of contract networks, run by the real engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from mien.engine.device import find_device
from mien.engine.openvino import OpenVinoSession
from mien.models.families.family import Family
from mien.models.families.inspection import check_family, inspect
from support.moving import still

CPU = find_device("cpu")


class Recording:
    """The engine's session; keeps what it was given."""

    def __init__(self, path: Path) -> None:
        self._session = OpenVinoSession(path, model=path.stem, device=CPU, precision="fp32", threads=1)
        self.calls: list[dict[str, np.ndarray]] = []

    @property
    def ran(self):
        return self._session.ran

    @property
    def usage(self):
        return self._session.usage

    def run(self, inputs):
        self.calls.append({name: np.array(value) for name, value in inputs.items()})
        return self._session.run(inputs)


@pytest.fixture
def record() -> Callable[[Path], Recording]:
    return Recording


@pytest.fixture
def open_adapter() -> Callable[[type[Family], Path], tuple[Any, Recording]]:
    """The adapter of a file that has been checked against its family, and its session."""

    def open_file(family: type[Family], path: Path) -> tuple[Any, Recording]:
        file = inspect(path)
        check_family(file, family)
        session = Recording(path)
        return family.open(session, file), session

    return open_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "network.onnx"


@pytest.fixture(scope="session")
def portrait() -> np.ndarray:
    return still("astronaut")


@pytest.fixture(scope="session")
def crops(portrait: np.ndarray) -> Callable[..., np.ndarray]:
    """(n, side, side, 3) uint8 cuttings of the portrait, no two alike."""

    def cut(count: int, side: int) -> np.ndarray:
        places = np.random.default_rng(side).integers(0, 212, (count, 2))
        return np.stack([cv2.resize(portrait[y : y + 300, x : x + 300], (side, side)) for y, x in places])

    return cut
