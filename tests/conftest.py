"""What holds for all tests."""

from __future__ import annotations

import pytest

from support.alone import is_alone, run_alone


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Tests marked `alone` run in a process of their own."""
    if pyfuncitem.get_closest_marker("alone") is None or is_alone():
        return None
    run_alone(pyfuncitem)
    return True
