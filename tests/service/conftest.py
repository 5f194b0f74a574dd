from collections.abc import Iterator
from pathlib import Path

import pytest

from mien.service.valkey import EmbeddedValkey
from support.jobs import talking_clip
from support.service import Place


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedValkey]:
    with EmbeddedValkey(tmp_path_factory.mktemp("queue")) as server:
        yield server


@pytest.fixture
def place(valkey: EmbeddedValkey, tmp_path: Path) -> Iterator[Place]:
    """An empty queue and an empty storage."""
    found = Place(tmp_path, valkey)
    found.state.client.flushall()
    yield found
    found.state.client.close()


@pytest.fixture(scope="session")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with sound."""
    return talking_clip(tmp_path_factory.mktemp("clips") / "talking.mp4", seconds=3, sound=True)
