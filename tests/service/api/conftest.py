from collections.abc import Iterator

import pytest

from mien.service.inspection.process import Inspector
from mien.service.valkey import EmbeddedValkey
from support.api import Api, Caller, bounds, served


@pytest.fixture(scope="session")
def inspector() -> Iterator[Inspector]:
    with Inspector(bounds()) as one:
        yield one


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory, inspector: Inspector) -> Iterator[Api]:
    """One for all tests: each calls with a tenant of its own."""
    folder = tmp_path_factory.mktemp("api")
    with EmbeddedValkey(folder / "queue") as queue, served(folder, queue.url, inspector) as one:
        yield one


@pytest.fixture
def caller(api: Api) -> Caller:
    return api.caller()
