"""What the tests of the kernels share."""

from __future__ import annotations

import pytest

from mien.native import loading


@pytest.fixture(params=loading.runnable())
def each_variant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs once with each variant of the library that the processor runs."""
    loaded = loading.open_variant(request.param)
    monkeypatch.setattr(loading, "library", lambda: loaded)
