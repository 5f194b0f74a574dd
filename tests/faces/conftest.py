import pytest

from mien.faces.analyser import FaceAnalyser


@pytest.fixture(scope="session")
def analyser() -> FaceAnalyser:
    return FaceAnalyser()
