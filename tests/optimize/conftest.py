"""Faces that the tests of cheaper networks share."""

import pytest

from mien.optimize.material import Material, gather
from optimize.nets import STILLS
from support.people import analyser


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIEN_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def faces() -> Material:
    """Six faces: the stills, and the stills mirrored."""
    return gather([STILLS], 6, "recogniser", analyser())
