"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from support.alone import is_alone, run_alone

# How long an example may take is a matter of the machine, and of what else it does.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def settings_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or changes the policy, keys and consents of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIEN_TRUST", str(tmp_path_factory.mktemp("trust")))
        patch.delenv("MIEN_POLICY", raising=False)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Tests marked `alone` run in a process of their own."""
    if pyfuncitem.get_closest_marker("alone") is None or is_alone():
        return None
    run_alone(pyfuncitem)
    return True
