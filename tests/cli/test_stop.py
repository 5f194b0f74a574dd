"""Signals become a question that the job asks, and the program's own handling comes back afterwards."""

import os
import signal
from collections.abc import Iterator

import pytest

from mien.cli.stop import stop_on_signal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_the_job_to_stop(number):
    with stop_on_signal() as stopped:
        assert not stopped()
        os.kill(os.getpid(), number)
        assert stopped()


@pytest.fixture
def usual_sigint() -> Iterator[None]:
    """Python's own handler, also where the tests were started with SIGINT ignored (a shell's background job)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_sigint")
def test_a_second_ctrl_c_ends_the_program_at_once():
    with pytest.raises(KeyboardInterrupt), stop_on_signal():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_before_comes_back(number):
    before = signal.getsignal(number)
    with stop_on_signal():
        assert signal.getsignal(number) is not before
    assert signal.getsignal(number) is before
