import os
import signal
import threading
from pathlib import Path

import pytest

from mien.errors import JobError, UsageError
from mien.service.state import State
from mien.service.valkey import EmbeddedValkey


def test_what_was_acknowledged_outlives_a_stop_and_a_kill(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as server:
        state = State.at(server.url)
        state.client.set("one", "1")
        server.restart()
        assert state.client.get("one") == "1"
        state.client.set("two", "2")
        assert server.process_id is not None
        os.kill(server.process_id, signal.SIGKILL)
        server.stop()
        server.start()
        assert [state.client.get("one"), state.client.get("two")] == ["1", "2"]
        state.client.close()


def test_clients_wait_for_a_server_that_is_restarted(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as server:
        state = State.at(server.url)
        state.client.set("before", "1")
        server.stop()
        starter = threading.Timer(0.5, server.start)
        starter.start()
        assert state.client.get("before") == "1"
        starter.join()
        state.client.close()


def test_a_server_that_was_left_behind_is_taken_over(tmp_path: Path) -> None:
    left = EmbeddedValkey(tmp_path)
    left.start()
    with EmbeddedValkey(tmp_path) as heir:
        assert heir.process_id is None
        assert heir.url == left.url
    with pytest.raises(JobError, match="does not answer"):
        _impatient(left.url).client.get("key")
    left.stop()


def _impatient(url: str) -> State:
    state = State.at(url)
    state.client.connection_pool.connection_kwargs["retry"] = None
    return state


def test_only_its_user_can_open_the_socket(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path):
        assert (tmp_path / "valkey.sock").stat().st_mode & 0o077 == 0


def test_a_folder_with_too_long_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too long for a socket"):
        EmbeddedValkey(tmp_path / ("x" * 120))


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").write_text("no folder")
    with pytest.raises(JobError, match="does not start"):
        EmbeddedValkey(tmp_path).start()
