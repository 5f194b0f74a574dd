"""Lines of the log, and processes that are kept running."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from mien.service.kept_running import KeptRunning
from mien.service.logs import JOB, TRACE, JsonLines


def test_a_line_is_an_object_with_the_ids_of_what_it_is_about() -> None:
    record = logging.LogRecord("mien.x", logging.WARNING, __file__, 1, "%d\nlines", (2,), None)
    record.status = 404
    trace, job = TRACE.set("t1"), JOB.set("job_1")
    try:
        line = JsonLines().format(record)
    finally:
        TRACE.reset(trace)
        JOB.reset(job)
    assert "\n" not in line
    members = json.loads(line)
    assert members.pop("time").endswith("+00:00")
    assert members == {
        "level": "warning",
        "logger": "mien.x",
        "message": "2\nlines",
        "trace": "t1",
        "job": "job_1",
        "status": 404,
    }


def test_errors_come_with_their_traceback() -> None:
    try:
        raise ValueError("why")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "broken", (), sys.exc_info())
    assert "ValueError: why" in json.loads(JsonLines().format(record))["error"]


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_ends_is_started_again_and_ends_with_the_block(tmp_path: Path, stop: signal.Signals) -> None:
    program = f"import os,signal; open({str(tmp_path / 'started')!r},'a').write(f'{{os.getpid()}}\\n'); signal.pause()"

    def started(count: int) -> list[int]:
        path = tmp_path / "started"
        for _ in range(3000):
            lines = path.read_text().split() if path.exists() else []
            if len(lines) >= count:
                return [int(line) for line in lines]
            time.sleep(0.01)
        raise AssertionError(f"it was not started {count} times")

    with KeptRunning([sys.executable, "-c", program], again_s=0.01, stop_s=10) as kept:
        os.kill(started(1)[0], stop)
        second = started(2)[1]
        assert kept.process_id == second
    assert len(started(2)) == 2
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)


def test_a_process_that_does_not_end_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    program = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"open({str(ready)!r}, 'w').close(); signal.pause()"
    )
    with KeptRunning([sys.executable, "-c", program], again_s=10, stop_s=0.2) as kept:
        ready.open().close()  # Waits until it ignores the signal.
        number = kept.process_id
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
